import type { Point } from '../../model/summary.js'
import { escaped } from '../markup.js'
import { rivalTables } from '../rival-tables.js'
import { tableHtml } from './table.js'

/** CPU time with our ratio to each contestant, and throughput; empty when only one took part. */
export function rivalsHtml(points: readonly Point[]): string {
  return rivalTables(points)
    .map(({ name, headings, rows, remark }) => {
      const below = remark === null ? '' : `<p>${escaped(remark)}</p>`
      return `<h3>${escaped(name)}</h3>${tableHtml(headings, rows, name)}${below}`
    })
    .join('')
}
