// watch calls f when the attribute of el changes.
export function watch(el: Element, attribute: string, f: () => void) {
  new MutationObserver(f).observe(el, { attributeFilter: [attribute] })
}
