// Disclosure belongs to the reader. What the reader opened or closed stays so,
// through every patch, reload and reconnect. What the reader did not touch: the
// live stage opens by itself once, and folds when the next one begins.

import { following, hold } from './follow'
import { recall, remember } from './store'

const runsKept = 60

type Choices = { [id: string]: 0 | 1 }

const choices = new Map<string, Choices>() // by run
const opened = new Set<string>() // rows that opened by themselves
const whole = new WeakSet<Element>() // bodies that have their parts: the stream keeps them so
const loading = new WeakMap<Element, object>()

export function disclosure() {
  const timeline = document.getElementById('timeline')
  if (!timeline) return
  document.addEventListener('click', chosen)
  for (const row of timeline.querySelectorAll('.stage-row')) {
    arrive(row)
    if (isLive(row)) opened.add(row.id)
  }
  stay(timeline)
  restore(timeline)
  new MutationObserver((records) => {
    const moved = new Set<Element>()
    for (const r of records) {
      if (r.type === 'attributes') moved.add(r.target as Element)
      for (const n of r.addedNodes) {
        if (!(n instanceof Element) || !n.isConnected) continue
        for (const row of [n, ...n.querySelectorAll('.stage-row')]) {
          if (!row.matches('.stage-row')) continue
          arrive(row)
          moved.add(row)
        }
        restore(n)
      }
    }
    for (const row of moved) if (row.isConnected && isLive(row)) begin(row)
  }).observe(timeline, { subtree: true, childList: true, attributes: true, attributeFilter: ['data-status'] })
}

const isLive = (row: Element) => ['in_progress', 'waiting'].includes(row.getAttribute('data-status') ?? '')

const isOpen = (row: Element) => isLive(row) || row.getAttribute('data-status') === 'pending'

// arrive: a row that is not over comes with its parts, one that is over without.
function arrive(row: Element) {
  const body = bodyOf(detailsOf(row) ?? row)
  if (body && isOpen(row)) whole.add(body)
}

const detailsOf = (row: Element) => row.querySelector<HTMLDetailsElement>(':scope > details')

const bodyOf = (details: Element) => details.querySelector(':scope > .row-open > .row-body')

// owner is the run and the id under which a choice is remembered.
function owner(details: Element): [string, string] | null {
  const run = details.closest<HTMLElement>('#timeline > [data-run-id]')?.dataset.runId
  const id = details.id || details.parentElement?.closest('[id]')?.id
  return run && id ? [run, id] : null
}

function choicesOf(run: string): Choices {
  let c = choices.get(run)
  if (!c) choices.set(run, (c = recall<Choices>('open.' + run, {})))
  return c
}

function choice(details: Element): 0 | 1 | undefined {
  const of = owner(details)
  return of ? choicesOf(of[0])[of[1]] : undefined
}

// chosen: the reader clicks a summary (a key on it is a click too).
function chosen(e: Event) {
  const summary = (e.target as Element).closest('summary')
  const details = summary?.parentElement
  if (e.defaultPrevented || !(details instanceof HTMLDetailsElement)) return
  if ((e.target as Element).closest('a, button, input, select, textarea')) return
  const open = !details.open
  hold()
  const of = owner(details)
  if (!of) return
  const [run, id] = of
  choicesOf(run)[id] = open ? 1 : 0
  remember('open.' + run, choicesOf(run))
  keep(run)
  if (open) void fill(details)
}

// keep bounds what is remembered to the newest runs.
function keep(run: string) {
  const runs = [run, ...recall<string[]>('opened', []).filter((r) => r !== run)]
  for (const old of runs.slice(runsKept)) remember('open.' + old, null)
  remember('opened', runs.slice(0, runsKept))
}

// stay: a reload shows the rows open that were open when this tab left the page,
// also those that opened by themselves.
function stay(timeline: Element) {
  const key = 'stagefold.rows.' + location.pathname
  const rows = () => [...timeline.querySelectorAll('.stage-row > details[open]')].map((d) => d.parentElement!.id)
  try {
    for (const id of JSON.parse(sessionStorage.getItem(key) ?? '[]')) {
      const row = document.getElementById(id)
      const details = row && detailsOf(row)
      if (!details || choice(details) !== undefined) continue
      details.open = true
      void fill(details)
    }
    addEventListener('pagehide', () => sessionStorage.setItem(key, JSON.stringify(rows())))
  } catch {
    // a browser that keeps nothing
  }
}

// restore gives new elements what the reader chose before.
function restore(root: Element) {
  for (const details of [root, ...root.querySelectorAll('details')]) {
    if (!(details instanceof HTMLDetailsElement)) continue
    const c = choice(details)
    if (c !== undefined) details.open = c === 1
    if (details.open) void fill(details)
  }
}

// begin: a row became live.
function begin(row: Element) {
  const details = detailsOf(row)
  if (!details) return
  if (choice(details) === undefined && !opened.has(row.id)) details.open = true
  opened.add(row.id)
  void fill(details)
  for (const other of row.parentElement?.querySelectorAll(':scope > .stage-row') ?? []) {
    if (other !== row && !isLive(other)) end(other)
  }
}

// end folds a row that is over, unless the reader opened it, or something in it,
// or is reading it, and drops the parts of one that is closed.
function end(row: Element) {
  const details = detailsOf(row)
  if (!details) return
  if (details.open && !isChosen(details) && !isRead(row)) details.open = false
  if (!details.open) empty(row, details)
}

const isChosen = (details: HTMLDetailsElement) =>
  [details, ...details.querySelectorAll('details')].some((d) => choice(d) !== undefined)

function isRead(row: Element): boolean {
  if (row.contains(document.activeElement)) return true
  const selection = getSelection()
  if (selection && !selection.isCollapsed && selection.containsNode(row, true)) return true
  const { top, bottom } = row.getBoundingClientRect()
  return !following() && top < 0 && bottom > 0 // the reader is in the middle of it
}

function empty(row: Element, details: HTMLDetailsElement) {
  const body = bodyOf(details)
  if (!body || isOpen(row) || !details.dataset.load) return
  body.replaceChildren()
  whole.delete(body)
  loading.delete(body) // what is on its way may be older than the row's end
}

// fill loads the parts that a row's body does not have.
async function fill(details: HTMLDetailsElement) {
  const body = bodyOf(details)
  const address = details.dataset.load
  if (!body || !address || whole.has(body) || loading.has(body)) return
  const load = {}
  loading.set(body, load)
  body.setAttribute('aria-busy', 'true')
  try {
    const answer = await fetch(address, { headers: { 'Datastar-Request': 'true' } })
    if (!answer.ok) throw new Error(`status ${answer.status}`)
    const template = document.createElement('template')
    template.innerHTML = await answer.text()
    if (loading.get(body) !== load) return
    hold()
    body.querySelector(':scope > .failed')?.remove()
    merge(body, template.content)
    whole.add(body)
  } catch {
    if (body.childElementCount === 0) body.append(failed())
  } finally {
    if (!loading.has(body) || loading.get(body) === load) {
      loading.delete(body)
      body.removeAttribute('aria-busy')
    }
  }
}

function failed(): Element {
  const li = document.createElement('li')
  li.className = 'none failed'
  li.textContent = 'These parts could not be loaded. Close and open the stage to try again.'
  return li
}

// merge puts the loaded parts in order around those that the stream has brought
// in the meantime, which are newer.
function merge(body: Element, content: DocumentFragment) {
  let before: Element | null = null
  for (const part of [...content.children]) {
    const there: Element | null = part.id ? document.getElementById(part.id) : null
    if (there?.parentElement !== body) {
      if (before) before.after(part)
      else body.prepend(part)
      before = part
    } else {
      before = there
    }
  }
}
