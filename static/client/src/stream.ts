// The page's stream: kept open while the page is looked at, opened again from
// where the page is after every end, whatever ended it.

import { apply } from './patch'
import { parser, receive } from './events'
import { report } from './report'
import { batch } from './signals'
import { alone, takeSlot } from './slots'

const silence = 40_000 // without a byte (heartbeats come every 15 s) the connection is dead
const catchUp = 1_500 // without a byte a page that only catches up is up to date
const hiddenAfter = 5_000 // a hidden page gives its stream up after this
const pollEvery = 2_000 // a page without a slot
const glanceEvery = 15_000 // a hidden page, for its title
const longestWait = 8_000

// State is the answer of /chats/ID/state.
type State = { title: string; state: string; runId: string; seq: number; waiting?: number }

// Gone: the chat is not there any more; asking again does not help.
class Gone extends Error {}

export class PageStream {
  #closed = new AbortController()
  #reading: AbortController | null = null
  #lastID = ''
  #failures = 0
  #brief = 0 // streams in a row that ended at once
  #givenUp = false // the page is hidden or left: its stream was ended on purpose
  #known = '' // the state that the page shows, while it polls
  #wake = () => {}

  readonly #el: Element
  readonly #url: string

  constructor(el: Element, url: string) {
    this.#el = el
    this.#url = url
    const on = { signal: this.#closed.signal }
    document.addEventListener('visibilitychange', () => this.#seen(), on)
    window.addEventListener('online', () => this.#wake(), on)
    window.addEventListener('pagehide', () => this.#giveUp(), on)
    window.addEventListener('pageshow', () => this.#wake(), on)
  }

  close() {
    this.#closed.abort()
    this.#reading?.abort()
    this.#wake()
  }

  #seen() {
    this.#wake()
    if (!document.hidden) return
    setTimeout(() => document.hidden && this.#giveUp(), hiddenAfter)
  }

  #giveUp() {
    if (!this.#reading) return
    this.#givenUp = true
    this.#reading.abort()
  }

  // run keeps the stream until the element goes.
  async run() {
    while (!this.#closed.signal.aborted && this.#el.isConnected) {
      try {
        await this.#round()
        this.#failures = 0
      } catch (e) {
        if (this.#closed.signal.aborted) return
        const onPurpose = this.#givenUp
        this.#givenUp = false
        if (onPurpose) continue
        connection('lost')
        if (e instanceof Gone) {
          report(this.#el, 'error', { status: '404', message: 'This chat is not there any more.' })
          return
        }
        await this.#pause(wait(this.#failures++))
      }
    }
  }

  async #round() {
    if (document.hidden) {
      await this.#glance()
      await this.#pause(glanceEvery)
      return
    }
    const slot = await takeSlot()
    if (slot) {
      document.documentElement.dataset.stream = 'open'
      const from = performance.now()
      try {
        await this.#read(false)
      } finally {
        slot()
      }
      this.#brief = performance.now() - from < 1000 ? this.#brief + 1 : 0
      await this.#pause(wait(this.#brief))
      return
    }
    document.documentElement.dataset.stream = 'polling'
    const s = await this.#glance()
    const is = JSON.stringify([s.runId, s.seq, s.state, s.waiting])
    if (is !== this.#known) {
      await alone(() => this.#read(true))
      this.#known = is
    }
    await this.#pause(pollEvery)
  }

  // glance asks for the short state; the page's title follows it.
  async #glance(): Promise<State> {
    const url = new URL(this.#url, location.href)
    url.pathname = url.pathname.replace(/stream$/, 'state')
    const answer = await fetch(url, { cache: 'no-store', signal: this.#closed.signal })
    check(answer)
    connection('live')
    const state = (await answer.json()) as State
    document.dispatchEvent(new CustomEvent('stagefold-state', { detail: state }))
    return state
  }

  // read shows the stream to its end, or only what brings the page up to date.
  async #read(once: boolean) {
    const reading = (this.#reading = new AbortController())
    let timer = setTimeout(() => reading.abort(), silence)
    const feed = parser((e) => {
      batch(() => apply(e))
      if (e.id === null) return
      this.#lastID = e.id
      if (once) reading.abort()
    })
    try {
      const answer = await fetch(this.#from(), {
        headers: { Accept: 'text/event-stream', 'Datastar-Request': 'true' },
        cache: 'no-store',
        signal: reading.signal,
      })
      check(answer)
      connection('live')
      await receive(answer, feed, () => {
        this.#failures = 0
        clearTimeout(timer)
        timer = setTimeout(() => reading.abort(), once ? catchUp : silence)
      })
    } catch (e) {
      if (!(once && reading.signal.aborted)) throw e
    } finally {
      clearTimeout(timer)
      reading.abort()
      this.#reading = null
    }
  }

  // from is the stream's address behind what the page shows by now.
  #from(): URL {
    const url = new URL(this.#url, location.href)
    if (this.#lastID === '') return url
    const runs = document.querySelectorAll<HTMLElement>('#timeline > [data-run-id]')
    const newest = runs[runs.length - 1]?.dataset.runId
    if (newest) {
      url.searchParams.set('run', newest)
      url.searchParams.set('after', this.#lastID)
    }
    return url
  }

  #pause(ms: number) {
    return new Promise<void>((done) => {
      const timer = setTimeout(done, ms)
      this.#wake = () => {
        clearTimeout(timer)
        done()
      }
    })
  }
}

// wait is the time before the nth attempt in a row, with jitter: the pages of a
// server that comes back must not all come at once.
const wait = (n: number) => Math.min(longestWait, 200 * 2 ** Math.min(n, 6)) * (0.5 + Math.random())

function check(answer: Response) {
  if (answer.status === 404 || answer.status === 410) throw new Gone()
  if (!answer.ok) throw new Error(`status ${answer.status}`)
}

function connection(state: 'live' | 'lost') {
  const root = document.documentElement
  if (root.dataset.connection !== state) root.dataset.connection = state
}
