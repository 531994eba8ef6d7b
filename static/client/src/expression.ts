// Expressions of attributes, compiled through script elements that carry the
// page's nonce: the content security policy needs no unsafe-eval.

import type { Tree } from './signals'

// Actions are what @name(...) calls.
export type Actions = { [name: string]: (...args: any[]) => unknown }

type Compiled = ($: Tree, $$: Actions, el: Element, evt?: Event) => unknown

type Entry = { run: Compiled; uses: number }

const entries = new Map<string, Entry>()

declare global {
  interface Window {
    stagefoldCompiled?: Compiled[]
  }
}

const tokens = /'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|\$(?=[A-Za-z_])|@(?=[A-Za-z]\w*\s*\()/g

// script is the expression as JavaScript: $name reads a signal, @name( an
// action; the value of the last statement is returned.
export function script(source: string): string {
  const js = source.replace(tokens, (t) => {
    if (t === '$') return '$.'
    return t === '@' ? '$$.' : t
  })
  const list = statements(js)
  const last = list.pop() ?? ''
  const keyword = /^(?:if|for|while|do|switch|try|throw|return|const|let|var|function|class)\b/.test(last)
  return [...list, last && (keyword ? last : `return (${last})`)].join(';')
}

// statements splits at the semicolons that stand in no string and no bracket.
function statements(js: string): string[] {
  const out: string[] = []
  let from = 0
  let deep = 0
  const mark = /'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|`(?:\\.|[^`\\])*`|[()[\]{};]/g
  for (let m = mark.exec(js); m; m = mark.exec(js)) {
    if ('([{'.includes(m[0])) deep++
    else if (')]}'.includes(m[0])) deep--
    else if (m[0] === ';' && deep === 0) {
      out.push(js.slice(from, m.index).trim())
      from = m.index + 1
    }
  }
  out.push(js.slice(from).trim())
  return out.filter((s) => s !== '')
}

// prepare compiles what is new among sources, all in one script element where
// it can be.
export function prepare(sources: string[]) {
  const fresh = [...new Set(sources)].filter((s) => !entries.has(s))
  if (fresh.length === 0) return
  const compiled = compile(fresh)
  fresh.forEach((source, i) => {
    const run = compiled[i] ?? compile([source])[0] ?? broken(source)
    entries.set(source, { run, uses: 0 })
  })
}

function compile(sources: string[]): Compiled[] {
  const el = document.createElement('script')
  el.nonce = document.documentElement.dataset.nonce
  const bodies = sources.map((s) => `function($,$$,el,evt){${script(s)}\n}`)
  el.textContent = `window.stagefoldCompiled=[${bodies.join(',')}]`
  document.head.append(el)
  el.remove()
  const made = window.stagefoldCompiled ?? []
  delete window.stagefoldCompiled
  return made
}

function broken(source: string): Compiled {
  console.error('expression cannot be compiled:', source)
  return () => undefined
}

// use gives the compiled expression; give it back with release, so that the
// expressions of removed elements do not pile up.
export function use(source: string): Compiled {
  if (!entries.has(source)) prepare([source])
  const e = entries.get(source)!
  e.uses++
  return e.run
}

export function release(source: string) {
  const e = entries.get(source)
  if (e && --e.uses <= 0) entries.delete(source)
}

// expressions is how many are kept; for tests.
export const expressions = () => entries.size
