// One copy button for every block of code and every output, shown at the one
// under the pointer or with the focus.

export function copying() {
  if (!navigator.clipboard) return
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'copy-button'
  button.textContent = 'Copy'
  button.hidden = true
  let of: HTMLElement | null = null

  const show = (e: Event) => {
    const target = e.target as Element
    if (target === button) return
    const pre = target.closest?.<HTMLElement>('pre.code, pre.out') ?? null
    of = pre
    button.hidden = pre === null
    if (!pre) return
    button.textContent = 'Copy'
    if (!button.isConnected) document.body.append(button)
    const { top, right } = pre.getBoundingClientRect()
    button.style.position = 'absolute'
    button.style.top = `${top + scrollY + 6}px`
    button.style.left = `${right + scrollX - button.offsetWidth - 6}px`
  }
  document.addEventListener('pointerover', show, { passive: true })
  document.addEventListener('focusin', show)
  button.addEventListener('click', async () => {
    if (!of) return
    await navigator.clipboard.writeText(of.textContent ?? '')
    button.textContent = 'Copied'
  })
}
