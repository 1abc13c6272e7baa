import { escaped } from '../markup.js'

/** Attributes of an element; numbers are rounded to what a screen can show. */
export type Attributes = Readonly<Record<string, string | number>>

/** An element with its content, which is markup already. */
export function element(name: string, attributes: Attributes, content = ''): string {
  const texts = Object.entries(attributes).map(([key, value]) => ` ${key}="${escaped(attributeText(value))}"`)
  return content === '' ? `<${name}${texts.join('')}/>` : `<${name}${texts.join('')}>${content}</${name}>`
}

/** A text element. */
export function label(x: number, y: number, text: string, attributes: Attributes = {}): string {
  return element('text', { x, y, ...attributes }, escaped(text))
}

/** The outer element, named and described for those who do not see it. */
export function drawing(
  id: string,
  head: { title: string; description: string },
  size: Size,
  content: string,
): string {
  const names = {
    'aria-labelledby': `${id}-t ${id}-d`,
    role: 'img',
    viewBox: `0 0 ${size.width} ${size.height}`,
  }
  const title = element('title', { id: `${id}-t` }, escaped(head.title))
  const description = element('desc', { id: `${id}-d` }, escaped(head.description))
  return element('svg', names, title + description + content)
}

export interface Size {
  readonly width: number
  readonly height: number
}

/** How many colours and marks there are before they begin again. */
export const STYLES = 8

/** The mark of a series around a point: told apart by shape too, for those who do not tell the colours apart. */
export function mark(x: number, y: number, series: number): string {
  const shape = series % 4
  const common = { class: `mark s${series % STYLES}` }
  if (shape === 0) return element('circle', { cx: x, cy: y, r: 3.6, ...common })
  if (shape === 1) return element('rect', { x: x - 3.2, y: y - 3.2, width: 6.4, height: 6.4, ...common })
  const corners =
    shape === 2
      ? [
          [0, -4.4],
          [4.2, 3.2],
          [-4.2, 3.2],
        ]
      : [
          [0, -4.6],
          [4.6, 0],
          [0, 4.6],
          [-4.6, 0],
        ]
  const points = corners.map(([dx, dy]) => `${attributeText(x + dx!)},${attributeText(y + dy!)}`).join(' ')
  return element('polygon', { points, ...common })
}

function attributeText(value: string | number): string {
  return typeof value === 'string' ? value : String(Math.round(value * 100) / 100)
}
