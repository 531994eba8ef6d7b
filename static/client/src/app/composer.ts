// The composer keeps its draft until the server has accepted it. Each message
// has an id made here, so that a message sent twice counts once.

import { toBottom } from './follow'
import { recall, remember } from './store'
import { watch } from './watch'

type Draft = { id: string; text: string }

export function composer() {
  const form = document.querySelector<HTMLFormElement>('form#composer')
  const text = form?.querySelector<HTMLTextAreaElement>('textarea[name=text]')
  const id = form?.querySelector<HTMLInputElement>('input[name=id]')
  if (!form || !text || !id) return
  const key = 'draft.' + (location.pathname.match(/^\/chats\/([^/]+)$/)?.[1] ?? 'new')
  notices()

  let sent: Draft | null = null
  const save = () => remember(key, text.value === '' ? null : { id: id.value, text: text.value })
  const draft = recall<Draft | null>(key, null)
  if (draft && text.value === '') {
    text.value = draft.text
    id.value = draft.id
  } else {
    id.value = newID()
  }
  grow(text)

  text.addEventListener('input', () => {
    // What was sent without an answer may have arrived: other words are another message.
    if (sent && sent.id === id.value && sent.text !== text.value) id.value = newID()
    grow(text)
    save()
  })
  form.addEventListener('submit', () => {
    sent = { id: id.value, text: text.value }
    if (!form.hasAttribute('data-on:submit__prevent')) remember(key, null)
  })
  outcome(form, () => {
    if (!sent) return
    if (text.value === sent.text) text.value = ''
    id.value = newID()
    sent = null
    grow(text)
    save()
    toBottom()
  })
  hint(text)
}

// outcome calls accepted when a request of the form came to a good end.
function outcome(form: HTMLFormElement, accepted: () => void) {
  let failed = false
  document.addEventListener('datastar-fetch', (e) => {
    const { type, el } = (e as CustomEvent).detail
    if (el !== form) return
    if (type === 'started') failed = false
    if (type === 'error') failed = true
    if (type === 'finished' && !failed) accepted()
  })
}

// notices says beside the composer what went wrong with a request.
function notices() {
  const notice = document.getElementById('notice')
  if (!notice) return
  const crowded = 'Many pages of this server are open: this one looks for news every 2 seconds.'
  document.addEventListener('datastar-fetch', (e) => {
    const { type, argsRaw } = (e as CustomEvent).detail
    if (type === 'started') notice.textContent = ''
    if (type === 'retrying') notice.textContent = 'The server does not answer. Trying again…'
    if (type === 'error') notice.textContent = argsRaw.message ?? `The server answered with status ${argsRaw.status}.`
  })
  const follow = () => {
    const polling = document.documentElement.dataset.stream === 'polling'
    if (polling) notice.textContent = crowded
    else if (notice.textContent === crowded) notice.textContent = ''
  }
  watch(document.documentElement, 'data-stream', follow)
  follow()
}

function grow(text: HTMLTextAreaElement) {
  if (CSS.supports('field-sizing', 'content')) return
  text.style.height = 'auto'
  text.style.height = `${text.scrollHeight}px`
}

const later = 'Message, sent when the run ends'

// hint says in the empty field what a message would do now.
function hint(text: HTMLTextAreaElement) {
  const line = document.getElementById('status-line')
  if (!line) return
  watch(line, 'data-state', () => {
    const hints: { [state: string]: string } = { waiting: 'Answer the agent', running: later, queued: later }
    text.placeholder = hints[line.dataset.state!] ?? 'Message'
  })
}

function newID(): string {
  return 'm' + crypto.getRandomValues(new Uint32Array(4)).join('')
}
