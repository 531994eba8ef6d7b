// Small things that outlive the page, kept in the browser. Where it keeps
// nothing (private windows, a full disk) the page works without.

export function recall<T>(key: string, or: T): T {
  try {
    const text = localStorage.getItem('stagefold.' + key)
    return text === null ? or : (JSON.parse(text) as T)
  } catch {
    return or
  }
}

export function remember(key: string, v: unknown) {
  try {
    if (v === null) localStorage.removeItem('stagefold.' + key)
    else localStorage.setItem('stagefold.' + key, JSON.stringify(v))
  } catch {
    // see above
  }
}
