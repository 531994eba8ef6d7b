// The page's signals: one tree of plain values. An effect runs again when a
// value changes that it has read.

export type Tree = { [name: string]: unknown }

type Effect = { run: () => void; reads: Set<Readers> }

// Readers are the effects that have read one name of one object.
class Readers extends Set<Effect> {
  constructor(readonly of: Map<string, Readers>, readonly name: string) {
    super()
  }
}

const readers = new WeakMap<object, Map<string, Readers>>()
const proxies = new WeakMap<object, Tree>()
const waiting = new Set<Effect>()
let current: Effect | null = null
let depth = 0

const isTree = (v: unknown): v is Tree => typeof v === 'object' && v !== null && Object.getPrototypeOf(v) === Object.prototype

const root: Tree = {}

// signals is the root as expressions see it: `$.name` reads, `$.name = v` writes.
export const signals = seen(root)

function seen(tree: Tree): Tree {
  let proxy = proxies.get(tree)
  if (!proxy) {
    proxy = new Proxy(tree, {
      get(of, name) {
        if (typeof name === 'symbol') return Reflect.get(of, name)
        read(of, name)
        const v = Object.hasOwn(of, name) ? of[name] : undefined
        return isTree(v) ? seen(v) : v
      },
      has: (of, name) => (typeof name === 'string' && read(of, name), Object.hasOwn(of, name)),
      set: (of, name, v) => (write(of, String(name), v), true),
      deleteProperty: (of, name) => (write(of, String(name), null), true),
    })
    proxies.set(tree, proxy)
  }
  return proxy
}

function read(of: object, name: string) {
  if (!current) return
  let names = readers.get(of)
  if (!names) readers.set(of, (names = new Map()))
  let set = names.get(name)
  if (!set) names.set(name, (set = new Readers(names, name)))
  set.add(current)
  current.reads.add(set)
}

function write(of: Tree, name: string, v: unknown) {
  if (name === '__proto__') return
  if (v === null || v === undefined) {
    if (!Object.hasOwn(of, name)) return
    delete of[name]
  } else if (isTree(v)) {
    of[name] = {}
    merge(of[name] as Tree, v)
  } else {
    if (Object.is(of[name], v)) return
    of[name] = v
  }
  readers.get(of)?.get(name)?.forEach((e) => waiting.add(e))
  if (depth === 0) flush()
}

function merge(into: Tree, patch: Tree, missing = false) {
  for (const [name, v] of Object.entries(patch)) {
    const old = Object.hasOwn(into, name) ? into[name] : undefined
    if (isTree(v) && isTree(old)) merge(old, v, missing)
    else if (!missing || old === undefined) write(into, name, v)
  }
}

// patchSignals merges a patch: null takes a signal away.
export function patchSignals(patch: Tree, onlyIfMissing = false) {
  batch(() => merge(root, patch, onlyIfMissing))
}

// allSignals is a copy, for requests.
export const allSignals = (): Tree => structuredClone(root)

// batch runs the effects that f calls for once, at its end.
export function batch(f: () => void) {
  depth++
  try {
    f()
  } finally {
    depth--
    if (depth === 0) flush()
  }
}

// flush runs what waits, and what that calls for, up to a bound: effects that
// write what they read must not hang the page.
function flush() {
  for (let round = 0; waiting.size > 0 && round < 100; round++) {
    const now = [...waiting]
    waiting.clear()
    depth++
    for (const e of now) e.run()
    depth--
  }
  waiting.clear()
}

// effect runs f now and whenever a signal that it read changes; it returns its end.
export function effect(f: () => void): () => void {
  const forget = () => {
    for (const set of e.reads) {
      set.delete(e)
      if (set.size === 0) set.of.delete(set.name)
    }
    e.reads.clear()
  }
  const e: Effect = {
    reads: new Set(),
    run() {
      forget()
      const outer = current
      current = e
      try {
        f()
      } finally {
        current = outer
      }
    },
  }
  e.run()
  return () => {
    forget()
    waiting.delete(e)
  }
}
