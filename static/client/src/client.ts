// The page's client: it binds the attributes of the page, keeps the page's
// stream open and shows its patches. It speaks Datastar 1.0's events and
// attribute spelling.

import { bindAll, rebind, unbindAll } from './attributes'
import { expressions } from './expression'

const observer = new MutationObserver((records) => {
  const added = new Set<Element>()
  for (const r of records) {
    if (r.type === 'attributes') {
      if (r.attributeName?.startsWith('data-')) rebind(r.target as Element, r.attributeName)
      continue
    }
    for (const n of r.removedNodes) if (n instanceof Element && !n.isConnected) unbindAll(n)
    for (const n of r.addedNodes) if (n instanceof Element) added.add(n)
  }
  for (const el of added) if (el.isConnected) bindAll(el)
})

bindAll(document.documentElement)
observer.observe(document.documentElement, { subtree: true, childList: true, attributes: true })

// A number for the tests of growth.
Object.defineProperty(window, 'stagefoldExpressions', { get: expressions })
