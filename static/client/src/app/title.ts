// The tab's title says what state the chat is in, hidden or not.

import { watch } from './watch'

const words: { [state: string]: string } = {
  waiting: 'Waits for you',
  running: 'Working',
  queued: 'Working',
  failed: 'Failed',
  interrupted: 'Interrupted',
}

export function title() {
  const line = document.getElementById('status-line')
  if (!line) return
  const prefix = new RegExp(`^(?:${[...new Set(Object.values(words)), 'Done'].join('|')}) · `)
  const heading = document.getElementById('chat-title')
  let base = document.title.replace(prefix, '')
  let last = line.dataset.state ?? ''
  let done = false // it ended while nobody looked
  const show = (state: string) => {
    if (document.hidden && state === 'finished' && state !== last) done = true
    last = state
    const word = words[state] ?? (done && state === 'finished' ? 'Done' : '')
    const text = word ? `${word} · ${base}` : base
    if (document.title !== text) document.title = text
  }
  const follow = () => show(line.dataset.state ?? '')
  watch(line, 'data-state', follow)
  if (heading) {
    new MutationObserver(() => {
      base = `${heading.textContent} · Stagefold`
      show(last)
    }).observe(heading, { subtree: true, childList: true, characterData: true })
  }
  document.addEventListener('stagefold-state', (e) => {
    const { state, waiting } = (e as CustomEvent).detail
    show(waiting > 0 ? 'waiting' : state)
  })
  document.addEventListener('visibilitychange', () => {
    if (document.hidden || !done) return
    done = false
    show(last)
  })
  follow()
}
