// The page follows its bottom while the reader is near it. Otherwise it stays
// where the reader is, and says that there is more below.

const near = 80 // pixels

let atBottom = true
let held = false
let lastTop = 0

const page = () => document.scrollingElement ?? document.documentElement

export const following = () => atBottom

// hold: what grows now grows because the reader opened something; opening never
// scrolls.
export function hold() {
  held = true
  setTimeout(() => {
    held = false
    look()
  }, 150)
}

// toBottom goes to the newest output and follows from there.
export function toBottom() {
  atBottom = true
  page().scrollTop = page().scrollHeight
  look()
}

const isNear = () => page().scrollHeight - page().scrollTop - innerHeight < near

function look() {
  atBottom = isNear()
  lastTop = page().scrollTop
  show()
}

function show(grown = false) {
  const root = document.documentElement
  root.toggleAttribute('data-away', !atBottom)
  if (atBottom) root.removeAttribute('data-new-below')
  else if (grown) root.setAttribute('data-new-below', '')
}

// scrolled: only a way up leaves the bottom; a page that grew under the reader
// has not been left.
function scrolled() {
  const up = page().scrollTop < lastTop - 1
  lastTop = page().scrollTop
  if (isNear()) atBottom = true
  else if (up) atBottom = false
  show()
}

export function follow() {
  const timeline = document.getElementById('timeline')
  if (!timeline) return
  addEventListener('scroll', scrolled, { passive: true })
  document.addEventListener('click', (e) => {
    if ((e.target as Element).closest('[data-action=jump]')) toBottom()
  })
  let height = 0
  new ResizeObserver(() => {
    const grown = page().scrollHeight > height
    height = page().scrollHeight
    if (held) return
    if (atBottom) page().scrollTop = page().scrollHeight
    lastTop = page().scrollTop
    show(grown && height > innerHeight)
  }).observe(timeline)
  start()
}

// start goes to the bottom of a page that was opened, or reloaded while it
// followed; an address with a place in it and the browser's own memory go first.
function start() {
  const key = 'stagefold.bottom.' + location.pathname
  const [entry] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[]
  const again = entry && entry.type !== 'navigate'
  let was: string | null = null
  try {
    was = sessionStorage.getItem(key)
    addEventListener('pagehide', () => sessionStorage.setItem(key, atBottom ? '1' : '0'))
  } catch {
    // a browser that keeps nothing
  }
  if (!location.hash && (!again || was !== '0')) toBottom()
  else look()
}
