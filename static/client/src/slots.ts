// A browser allows six connections to a host over HTTP/1.1. All its pages
// together keep at most four streams open; Web Locks count them.

const slots = 4

// takeSlot gives the slot's release, or null where all are taken. Where the
// browser has no locks (not a secure context) nothing is counted.
export async function takeSlot(): Promise<(() => void) | null> {
  if (!navigator.locks) return () => {}
  for (let n = 0; n < slots; n++) {
    const release = await tryLock(`stagefold-stream-${n}`)
    if (release) return release
  }
  return null
}

// alone runs f while no other page of the browser runs one of these.
export async function alone(f: () => Promise<void>): Promise<void> {
  await (navigator.locks ? navigator.locks.request('stagefold-catch-up', f) : f())
}

function tryLock(name: string): Promise<(() => void) | null> {
  return new Promise((taken) => {
    void navigator.locks.request(name, { ifAvailable: true }, (lock) => {
      if (!lock) {
        taken(null)
        return
      }
      return new Promise<void>((release) => taken(release))
    })
  })
}
