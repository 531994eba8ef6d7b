// Server-sent events, read as the standard says.

export type ServerEvent = { type: string; data: string; id: string | null }

// parser is fed text in any pieces and calls for each whole event. A line ends
// at CR, LF or CRLF.
export function parser(found: (e: ServerEvent) => void): (text: string) => void {
  let rest = ''
  let skipLF = false // the last piece ended with CR: an LF now belongs to it
  let type = ''
  let data: string[] = []
  let id: string | null = null

  const line = (l: string) => {
    if (l === '') {
      if (data.length > 0) found({ type: type || 'message', data: data.join('\n'), id })
      type = ''
      data = []
      id = null
      return
    }
    const colon = l.indexOf(':')
    if (colon === 0) return
    const name = colon < 0 ? l : l.slice(0, colon)
    const value = colon < 0 ? '' : l.slice(l[colon + 1] === ' ' ? colon + 2 : colon + 1)
    if (name === 'event') type = value
    else if (name === 'data') data.push(value)
    else if (name === 'id' && !value.includes('\0')) id = value
  }

  return (text) => {
    if (skipLF && text !== '') {
      skipLF = false
      if (text[0] === '\n') text = text.slice(1)
    }
    rest += text
    let from = 0
    for (let i = 0; i < rest.length; i++) {
      const c = rest[i]
      if (c !== '\n' && c !== '\r') continue
      line(rest.slice(from, i))
      if (c === '\r') {
        if (i + 1 === rest.length) skipLF = true
        else if (rest[i + 1] === '\n') i++
      }
      from = i + 1
    }
    rest = rest.slice(from)
  }
}

// fields takes the data of an event apart: 'mode inner', then lines of
// 'elements ...', which join.
export function fields(data: string): { [name: string]: string } {
  const out: { [name: string]: string } = {}
  for (const l of data.split('\n')) {
    const space = l.indexOf(' ')
    const name = space < 0 ? l : l.slice(0, space)
    const value = space < 0 ? '' : l.slice(space + 1)
    out[name] = Object.hasOwn(out, name) ? out[name] + '\n' + value : value
  }
  return out
}

// receive feeds a parser with an answer's body, to its end. heard is called for
// every piece.
export async function receive(answer: Response, feed: (text: string) => void, heard = () => {}) {
  const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader()
  for (;;) {
    const { value, done } = await reader.read()
    if (done) return
    heard()
    feed(value)
  }
}
