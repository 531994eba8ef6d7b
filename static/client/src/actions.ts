// The actions @get and @post.

import type { Actions } from './expression'
import { apply, patchElements } from './patch'
import { parser, receive } from './events'
import { report } from './report'
import { allSignals, patchSignals } from './signals'
import { PageStream } from './stream'

type Options = { contentType?: 'form' | 'json'; selector?: string; headers?: { [name: string]: string } }

const streams = new WeakMap<Element, PageStream>()
const busy = new WeakSet<Element>()

// actions are those that an expression of el may call. A @get of data-init is
// the page's stream: it is kept open as long as the element stands.
export function actions(el: Element, evt: Event | undefined, init: boolean): Actions {
  return {
    get: (url: string, options: Options = {}) => (init ? openStream(el, url) : send(el, evt, 'GET', url, options)),
    post: (url: string, options: Options = {}) => send(el, evt, 'POST', url, options),
  }
}

function openStream(el: Element, url: string) {
  closeStream(el)
  const stream = new PageStream(el, url)
  streams.set(el, stream)
  void stream.run()
}

// closeStream ends the element's stream, if it has one.
export function closeStream(el: Element) {
  streams.get(el)?.close()
  streams.delete(el)
}

// waits before the repeats of a request that got no answer. A form carries an id
// that its first attempt had too, so that it counts once.
const waits = [500, 1000, 2000, 4000, 8000]

async function send(el: Element, evt: Event | undefined, method: string, url: string, options: Options) {
  const form = options.contentType === 'form' ? formOf(el, options.selector) : null
  const sender = form ?? el
  if (busy.has(sender)) return
  const init: RequestInit = {
    method,
    headers: { Accept: 'text/event-stream, text/html, application/json', 'Datastar-Request': 'true', ...options.headers },
  }
  let target = url
  if (form) {
    const body = formData(form, (evt as SubmitEvent | undefined)?.submitter)
    if (method === 'GET') target += (url.includes('?') ? '&' : '?') + body
    else init.body = body
  } else if (method !== 'GET') {
    init.headers = { ...init.headers, 'Content-Type': 'application/json' }
    init.body = JSON.stringify(allSignals())
  }
  busy.add(sender)
  report(el, 'started')
  try {
    await take(el, await attempt(el, target, init))
  } catch {
    report(el, 'error', { status: '0', message: 'The server cannot be reached. Nothing is lost; try again.' })
  } finally {
    busy.delete(sender)
    report(el, 'finished')
  }
}

function formOf(el: Element, selector?: string): HTMLFormElement {
  const form = selector ? document.querySelector(selector) : el.closest('form')
  if (form instanceof HTMLFormElement) return form
  throw new Error('no form to send')
}

function formData(form: HTMLFormElement, submitter?: HTMLElement | null): URLSearchParams {
  const data = new URLSearchParams()
  for (const [name, v] of new FormData(form, submitter)) if (typeof v === 'string') data.append(name, v)
  if (!data.has('id')) data.append('id', String(Math.random()).slice(2))
  return data
}

async function attempt(el: Element, url: string, init: RequestInit): Promise<Response> {
  for (let n = 0; ; n++) {
    try {
      const response = await fetch(url, init)
      if (![502, 503, 504].includes(response.status) || n === waits.length) return response
    } catch (e) {
      if (n === waits.length) throw e
    }
    report(el, 'retrying', { attempt: n + 1 })
    await new Promise((done) => setTimeout(done, waits[n] * (0.75 + Math.random() / 2)))
  }
}

// take shows an answer: patches, elements, signals, an address to go to, or
// what was wrong.
async function take(el: Element, response: Response) {
  const type = response.headers.get('Content-Type') ?? ''
  if (!response.ok) {
    const text = await response.text()
    report(el, 'error', { status: String(response.status), message: sentence(text, type, response.status) })
  } else if (response.redirected && type.startsWith('text/html')) {
    location.assign(response.url)
  } else if (type.startsWith('text/event-stream')) {
    await receive(response, parser(apply))
  } else if (type.startsWith('text/html')) {
    patchElements(await response.text())
  } else if (type.startsWith('application/json')) {
    patchSignals(await response.json())
  }
}

// sentence is what a refusal says, of {error: {message, hint}}.
function sentence(text: string, type: string, status: number): string {
  if (type.startsWith('application/json')) {
    try {
      const { message, hint } = JSON.parse(text).error
      return [message, hint].filter(Boolean).join(' ')
    } catch {
      // not one of ours
    }
  }
  return `The server answered with status ${status}.`
}
