// The attributes of the page: data-on:click, data-bind:x, data-signals,
// data-show, data-class:x, data-attr:x, data-text, data-init, data-indicator:x,
// data-effect, data-ignore.

import { actions, closeStream } from './actions'
import { prepare, release, use } from './expression'
import { effect, patchSignals, signals, type Tree } from './signals'

// Attribute is a name taken apart: data-on:submit__prevent is kind 'on', key
// 'submit', mods ['prevent'].
type Attribute = { name: string; kind: string; key: string; mods: string[]; value: string }

type Bound = { el: Element; attribute: Attribute; run: (evt?: Event) => any }

// ends are the clean-ups of what is bound, by element and attribute.
const ends = new WeakMap<Element, Map<string, { value: string; end: () => void }>>()

function parse(name: string, value: string): Attribute | null {
  if (!name.startsWith('data-')) return null
  const [head, ...mods] = name.slice(5).split('__')
  const [kind, key = ''] = head.split(':')
  return Object.hasOwn(kinds, kind) ? { name, kind, key, mods, value } : null
}

const ignored = (el: Element) => el.closest('[data-ignore]') !== null

// bindAll binds the elements of a subtree that are not bound yet.
export function bindAll(root: Element) {
  if (ignored(root)) return
  const found: [Element, Attribute][] = []
  const walk = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT, (n) =>
    (n as Element).hasAttribute('data-ignore') ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT,
  )
  for (let n: Node | null = walk.currentNode; n; n = walk.nextNode()) {
    const el = n as Element
    for (const { name, value } of el.attributes) {
      const a = parse(name, value)
      if (a && !ends.get(el)?.has(name)) found.push([el, a])
    }
  }
  prepare(found.filter(([, a]) => isExpression(a)).map(([, a]) => a.value))
  for (const [el, a] of found) bind(el, a)
}

// rebind follows a changed attribute of a bound element.
export function rebind(el: Element, name: string) {
  const value = el.getAttribute(name)
  const old = ends.get(el)?.get(name)
  if (old?.value === value || (!old && value === null)) return
  old?.end()
  ends.get(el)?.delete(name)
  const a = value === null ? null : parse(name, value)
  if (a && el.isConnected && !ignored(el)) bind(el, a)
}

// unbindAll lets go of everything in a removed subtree.
export function unbindAll(root: Element) {
  for (const el of [root, ...root.querySelectorAll('*')]) {
    ends.get(el)?.forEach(({ end }) => end())
    ends.delete(el)
  }
}

const isExpression = (a: Attribute) => a.value !== ''

function bind(el: Element, a: Attribute) {
  const compiled = isExpression(a) ? use(a.value) : () => undefined
  const run = (evt?: Event) => {
    try {
      return compiled(signals, actions(el, evt, a.kind === 'init'), el, evt)
    } catch (e) {
      console.error(a.name, a.value, e)
    }
  }
  const end = kinds[a.kind]({ el, attribute: a, run }) ?? (() => {})
  let map = ends.get(el)
  if (!map) ends.set(el, (map = new Map()))
  map.set(a.name, {
    value: a.value,
    end: () => {
      end()
      if (isExpression(a)) release(a.value)
    },
  })
}

// camel is a signal's name from an attribute, which HTML writes in small letters.
const camel = (key: string) => key.replace(/-([a-z])/g, (_, c: string) => c.toUpperCase())

// at is a patch that sets one signal, given by its path.
const at = (path: string, v: unknown): Tree => path.split('.').reduceRight<unknown>((inner, name) => ({ [name]: inner }), v) as Tree

const valueAt = (path: string): unknown => path.split('.').reduce<any>((tree, name) => tree?.[name], signals)

const kinds: { [kind: string]: (b: Bound) => (() => void) | void } = {
  on: listen,
  bind: bindValue,
  init({ el, run }) {
    run()
    return () => closeStream(el)
  },
  effect: ({ run }) => effect(() => run()),
  text: ({ el, run }) =>
    effect(() => {
      const text = String(run() ?? '')
      if (el.textContent !== text) el.textContent = text
    }),
  show: ({ el, run }) =>
    effect(() => {
      const style = (el as HTMLElement).style
      if (run()) style.removeProperty('display')
      else style.setProperty('display', 'none')
    }),
  class: ({ el, attribute: { key }, run }) => effect(() => el.classList.toggle(key, Boolean(run()))),
  attr: ({ el, attribute: { key }, run }) => effect(() => setAttribute(el, key, run())),
  signals: ({ run }) => patchSignals((run() ?? {}) as Tree),
  indicator({ el, attribute: { key } }) {
    const path = camel(key)
    const follow = (e: Event) => {
      const { type, el: of } = (e as CustomEvent).detail
      if (of === el && (type === 'started' || type === 'finished')) patchSignals(at(path, type === 'started'))
    }
    patchSignals(at(path, false))
    document.addEventListener('datastar-fetch', follow)
    return () => document.removeEventListener('datastar-fetch', follow)
  },
}

function setAttribute(el: Element, name: string, v: unknown) {
  if (v === false || v === null || v === undefined) {
    el.removeAttribute(name)
    return
  }
  const text = v === true ? '' : typeof v === 'string' ? v : JSON.stringify(v)
  if (el.getAttribute(name) !== text) el.setAttribute(name, text)
}

function listen({ el, attribute: { key, mods }, run }: Bound) {
  const handle = (evt: Event) => {
    if (mods.includes('prevent')) evt.preventDefault()
    if (mods.includes('stop')) evt.stopPropagation()
    run(evt)
  }
  el.addEventListener(key, handle)
  return () => el.removeEventListener(key, handle)
}

function bindValue({ el, attribute: { key } }: Bound) {
  const path = camel(key)
  const field = el as HTMLInputElement
  const check = field.type === 'checkbox'
  const take = () => {
    if (field.type === 'radio' && !field.checked) return
    patchSignals(at(path, check ? field.checked : field.type === 'number' ? field.valueAsNumber : field.value))
  }
  if (valueAt(path) === undefined) take()
  const end = effect(() => {
    const v = valueAt(path)
    if (check) field.checked = Boolean(v)
    else if (field.type === 'radio') field.checked = field.value === String(v)
    else if (field.value !== String(v ?? '')) field.value = String(v ?? '')
  })
  field.addEventListener('input', take)
  field.addEventListener('change', take)
  return () => {
    end()
    field.removeEventListener('input', take)
    field.removeEventListener('change', take)
  }
}
