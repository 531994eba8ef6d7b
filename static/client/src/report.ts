// report tells the page what becomes of a request; attributes and scripts listen.
export function report(el: Element, type: 'started' | 'finished' | 'error' | 'retrying', argsRaw: object = {}) {
  document.dispatchEvent(new CustomEvent('datastar-fetch', { detail: { type, el, argsRaw } }))
}
