/** An element; texts become text nodes, never markup. Functions among the properties listen to their event. */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(properties)) {
    if (typeof value === 'function') element.addEventListener(name, value)
    else if (value !== false && value !== undefined) element.setAttribute(name, value === true ? '' : value)
  }
  element.append(...children.flat(9).filter((child) => child !== null && child !== undefined && child !== false))
  return element
}

/** A text in which `code` is marked by backticks. */
export function prose(text) {
  return text.split('`').map((part, index) => (index % 2 === 1 ? h('code', {}, part) : part))
}

/** Opens the first time it is asked for. */
export function fold(title, fill) {
  const details = h('details', {
    toggle() {
      if (details.open && details.childElementCount === 1) details.append(h('div', { class: 'fold' }, fill()))
    },
  })
  details.append(h('summary', {}, title))
  return details
}
