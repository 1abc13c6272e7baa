import { escaped } from '../markup.js'

/** Text that is figures, and stands to the right. */
const FIGURE = /^[(−+–]?[\d,.]+|^$|^–$/

/** A table with a heading row and its first column as names; a name for those who do not see it. */
export function tableHtml(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  name: string,
): string {
  const isFigure = headings.map((_, i) => i > 0 && rows.every((row) => FIGURE.test(row[i] ?? '')))
  const style = (i: number): string => (isFigure[i] === true ? ' class="n"' : '')
  const head = headings.map((text, i) => `<th scope="col"${style(i)}>${escaped(text)}</th>`).join('')
  const body = rows.map((row) => `<tr>${row.map((text, i) => cell(text, i, style(i))).join('')}</tr>`)
  const table = `<table aria-label="${escaped(name)}"><thead><tr>${head}</tr></thead><tbody>${body.join('\n')}</tbody></table>`
  return `<div class="wide">${table}</div>`
}

function cell(text: string, column: number, style: string): string {
  return column === 0 ? `<th scope="row">${escaped(text)}</th>` : `<td${style}>${escaped(text)}</td>`
}
