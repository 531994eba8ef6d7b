// Patches of elements. Morphing keeps what has not changed: a reader's
// selection, focus, scroll place and typed text live on in it.

import { Idiomorph } from 'idiomorph'
import { patchSignals, type Tree } from './signals'
import { fields, type ServerEvent } from './events'

// apply shows an event of the stream; other types are nobody's.
export function apply(e: ServerEvent) {
  const f = fields(e.data)
  if (e.type === 'datastar-patch-signals') {
    patchSignals(JSON.parse(f.signals ?? '{}') as Tree, f.onlyIfMissing === 'true')
  } else if (e.type === 'datastar-patch-elements') {
    const patch = () => patchElements(f.elements ?? '', f.mode, f.selector)
    if (f.useViewTransition === 'true' && document.startViewTransition) document.startViewTransition(patch)
    else patch()
  }
}

// patchElements patches html into the page. Without a selector each element
// goes to the one that has its id. What is not there is left out: its row may be
// folded.
export function patchElements(html: string, mode = 'outer', selector = '') {
  const template = document.createElement('template')
  template.innerHTML = html
  const content = template.content
  if (selector === '') {
    for (const el of [...content.children]) {
      const target = el.id ? document.getElementById(el.id) : null
      if (target) place(mode, target, [el])
    }
    return
  }
  for (const target of document.querySelectorAll(selector)) {
    place(mode, target, [...(content.cloneNode(true) as DocumentFragment).childNodes])
  }
}

function place(mode: string, target: Element, nodes: Node[]) {
  const first = nodes.find((n): n is Element => n instanceof Element)
  switch (mode) {
    case 'outer':
      if (first) morph(target, first)
      break
    case 'inner':
      morphInner(target, nodes)
      break
    case 'replace':
      target.replaceWith(...nodes)
      break
    case 'remove':
      target.remove()
      break
    case 'append':
    case 'prepend':
    case 'before':
    case 'after':
      target[mode](...fresh(nodes))
  }
}

// fresh are the nodes whose ids are not in the page yet. An addition that comes
// a second time, after a cut in the middle of a patch, morphs the first.
function fresh(nodes: Node[]): Node[] {
  return nodes.filter((n) => {
    const there = n instanceof Element && n.id ? document.getElementById(n.id) : null
    if (there) morph(there, n as Element)
    return !there
  })
}

function morph(old: Element, next: Element) {
  if (old.tagName !== next.tagName || old.id !== next.id) {
    old.replaceWith(next)
    return
  }
  if (old.isEqualNode(next)) return
  const typed = !isField(old) || sameField(old, next) || old === document.activeElement
  const { value, checked } = next as HTMLInputElement
  morphAttributes(old, next)
  morphInner(old, [...next.childNodes])
  if (!typed) Object.assign(old, { value, checked })
}

type Field = HTMLInputElement | HTMLTextAreaElement

const isField = (el: Element): el is Field => el instanceof HTMLTextAreaElement || el instanceof HTMLInputElement

function morphInner(old: Element, nodes: Node[]) {
  Idiomorph.morph(old, nodes, { morphStyle: 'innerHTML', ignoreActiveValue: true, callbacks })
}

const callbacks = {
  beforeNodeMorphed(old: Node, next: Node): boolean {
    if (old instanceof Text && next instanceof Text) {
      const grows = next.data.length > old.data.length && next.data.startsWith(old.data)
      if (grows) old.appendData(next.data.slice(old.data.length))
      return !grows
    }
    if (!(old instanceof Element) || !(next instanceof Element)) return true
    if (old.isEqualNode(next)) return false
    if (sameField(old, next)) {
      morphAttributes(old, next)
      return false
    }
    return true
  },
  beforeAttributeUpdated: (name: string, el: Element): boolean => !preserved(el, name),
}

// sameField: a field whose rendered value is the same as before keeps what the
// reader typed since.
function sameField(old: Element, next: Element): boolean {
  if (!isField(old) || !isField(next)) return false
  const defaults = (f: Field) => JSON.stringify([f.type, f.defaultValue, (f as HTMLInputElement).defaultChecked])
  return defaults(old) === defaults(next)
}

const preserved = (el: Element, name: string) => el.getAttribute('data-preserve-attr')?.split(/\s+/).includes(name) ?? false

function morphAttributes(old: Element, next: Element) {
  for (const { name, value } of [...next.attributes]) {
    if (old.getAttribute(name) !== value && !preserved(old, name)) old.setAttribute(name, value)
  }
  for (const { name } of [...old.attributes]) {
    if (!next.hasAttribute(name) && !preserved(old, name)) old.removeAttribute(name)
  }
}
