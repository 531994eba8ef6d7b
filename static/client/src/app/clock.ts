// Running clocks and dates that say how long ago. Both read like the server's
// (views/format.go).

export function clock() {
  setInterval(() => {
    if (document.hidden) return
    for (const t of document.querySelectorAll<HTMLElement>('time[data-since]')) say(t, duration(Date.now() - Date.parse(t.dataset.since!)))
  }, 1000)
  setInterval(() => {
    if (document.hidden) return
    for (const t of document.querySelectorAll<HTMLTimeElement>('.chat-list time, .runs time')) say(t, ago(Date.now(), new Date(t.dateTime)))
  }, 30_000)
}

function say(el: Element, text: string) {
  if (el.textContent !== text) el.textContent = text
}

const two = (n: number) => String(n).padStart(2, '0')

export function duration(ms: number): string {
  if (ms < 0) return '0 s'
  if (ms < 9950) return (ms / 1000).toFixed(1) + ' s'
  const s = Math.floor(ms / 1000)
  if (s < 60) return `${s} s`
  if (s < 3600) return `${Math.floor(s / 60)} min ${two(s % 60)} s`
  return `${Math.floor(s / 3600)} h ${two(Math.floor(s / 60) % 60)} min`
}

const months = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')

export function ago(now: number, t: Date): string {
  const s = (now - t.getTime()) / 1000
  if (s < 45) return 'just now'
  if (s < 3600) return `${Math.max(1, Math.round(s / 60))} min ago`
  if (s < 24 * 3600) return `${Math.floor(s / 3600)} h ago`
  if (s < 48 * 3600) return 'yesterday'
  if (s < 7 * 24 * 3600) return `${Math.floor(s / 86400)} days ago`
  const date = `${t.getUTCDate()} ${months[t.getUTCMonth()]}`
  return t.getUTCFullYear() === new Date(now).getUTCFullYear() ? date : `${date} ${t.getUTCFullYear()}`
}
