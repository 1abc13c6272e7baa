import type { Point } from '../model/summary.js'
import type { CapacityWish, WholeWish } from './evidence.js'

/** A body means POST. The traffic log counts when it was measured, because it is on in production; else the answer says that it is off. */
export function wholeWish(wish: CapacityWish, plain: readonly Point[]): WholeWish {
  const method = wish.method ?? methodOf(wish, plain)
  const alike = plain.filter((point) => (point.method === 'GET') === (method === 'GET'))
  const isLogged = alike.some(({ log }) => log === 'elasticsearch')
  return {
    ...wish,
    method,
    log: wish.log ?? (isLogged ? 'elasticsearch' : 'none'),
    bodyBytes: wish.bodyBytes ?? Math.max(0, ...alike.map(({ bodyBytes }) => bodyBytes)),
  }
}

function methodOf({ bodyBytes }: CapacityWish, plain: readonly Point[]): WholeWish['method'] {
  if (bodyBytes !== null) return bodyBytes === 0 ? 'GET' : 'POST'
  return plain.length === 0 || plain.some(({ method }) => method === 'GET') ? 'GET' : 'POST'
}
