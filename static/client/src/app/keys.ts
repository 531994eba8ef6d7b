// Keys: p opens and closes the plan, q or Escape closes what is on top, ? lists
// the keys, j and k move between rows, Ctrl+Enter sends. Single keys act outside
// editable elements and can be switched off.

import { recall, remember } from './store'
import { watch } from './watch'

const pane = () => document.getElementById('plan-pane')
const list = () => document.getElementById('keys')

export function keys() {
  const single = document.querySelector<HTMLInputElement>('#single-keys')
  if (single) {
    single.checked = recall('keys', true)
    single.addEventListener('change', () => remember('keys', single.checked))
  }
  document.addEventListener('keydown', press)
  document.addEventListener('click', (e) => {
    const action = (e.target as Element).closest<HTMLElement>('[data-action]')?.dataset.action
    if (action === 'plan') togglePane()
    if (action === 'close-pane') closePane()
  })
  closeWithPlan()
}

function press(e: KeyboardEvent) {
  if (e.isComposing || e.defaultPrevented) return
  const target = e.target as HTMLElement
  const form = document.querySelector<HTMLFormElement>('form#composer')
  if (e.key === 'Enter' && (e.ctrlKey || e.metaKey)) {
    const own = target.closest('form') ?? form
    if (!own) return
    e.preventDefault()
    own.requestSubmit(own.querySelector<HTMLElement>('[data-action=send]'))
    return
  }
  if (e.key === 'Escape') {
    closeTop()
    return
  }
  if (e.ctrlKey || e.metaKey || e.altKey || editable(target) || !recall('keys', true)) return
  const act = { p: togglePane, q: closeTop, '?': () => list()?.togglePopover(), j: () => move(1), k: () => move(-1) }[e.key]
  if (!act) return
  e.preventDefault()
  act()
}

const editable = (el: HTMLElement) => el.isContentEditable || el.closest('input:not([type=checkbox]), textarea, select') !== null

function togglePane() {
  const p = pane()
  if (p) p.hidden = !p.hidden
}

function closePane() {
  const p = pane()
  if (p) p.hidden = true
}

// closeTop closes the list of keys, else the plan. Escape closes the popover by
// itself.
function closeTop() {
  if (list()?.matches(':popover-open')) list()!.hidePopover()
  else closePane()
}

// closeWithPlan: the pane closes by itself when the plan is complete or cleared.
function closeWithPlan() {
  const p = pane()
  if (!p) return
  let open = p.hasAttribute('data-open-plan')
  watch(p, 'data-open-plan', () => {
    const is = p.hasAttribute('data-open-plan')
    if (open && !is) closePane()
    open = is
  })
}

function move(by: number) {
  const rows = [...document.querySelectorAll<HTMLElement>('.stage-row > details > summary')]
  if (rows.length === 0) return
  const at = rows.findIndex((r) => r.parentElement!.contains(document.activeElement))
  const next = at < 0 ? (by > 0 ? 0 : rows.length - 1) : Math.min(Math.max(at + by, 0), rows.length - 1)
  rows[next].focus({ preventScroll: true })
  rows[next].scrollIntoView({ block: 'nearest' })
}
