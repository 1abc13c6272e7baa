import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { LoadOptions } from '../model/engine.js'
import type { CallBody, MadeBody } from '../model/scenario.js'
import { LEAST_ORDERS_BYTES, ordersXml } from '../suite/orders.js'

/** What fills a body up: words, so that it compresses about as well as what people send, and no better. */
const WORDS = ['alpha', 'river', 'stone', 'market', 'signal', 'copper', 'harbor', 'winter', 'meadow', 'orbit']

/** Around the filling of a body: the order of a stock, the same in both formats. */
const FRAMES = {
  text: ['', ''],
  json: ['{"order":{"symbol":"IBM","note":"', '"}}'],
  xml: ['<order><symbol>IBM</symbol><note>', '</note></order>'],
} as const

/** Below its frame's length a body is the shortest well-formed thing that can be drawn out to any length. */
const SHORT_FRAMES = {
  text: ['', ''],
  json: ['"', '"'],
  xml: ['<o>', '</o>'],
} as const

/**
 * The bytes of a body, the same for the same description: those given, or made ones. JSON and XML are well-formed, and from 64 bytes on they hold an order
 * with a symbol, which routes by content can look for; a longer XML body is a message of orders.
 * @throws Error when the format has nothing so short.
 */
export function bodyOf(body: CallBody): Buffer {
  return body.kind === 'given' ? Buffer.from(body.base64, 'base64') : madeBody(body)
}

/** Writes a file for a load generator, which may hold secrets: only for who runs the load. Answers where it is. */
export function writePrivate({ dir }: LoadOptions, name: string, content: string | Buffer): string {
  const file = join(dir, name)
  writeFileSync(file, content, { mode: 0o600 })
  return file
}

function madeBody({ kind, bytes }: MadeBody): Buffer {
  if (kind === 'xml' && bytes >= LEAST_ORDERS_BYTES) return Buffer.from(ordersXml(bytes))
  const frames = [FRAMES[kind], SHORT_FRAMES[kind]]
  const frame = frames.find(([before, after]) => before.length + after.length <= bytes)
  if (frame !== undefined)
    return Buffer.from(frame[0] + filling(bytes - frame[0].length - frame[1].length) + frame[1])
  if (kind === 'json' && bytes === 1) return Buffer.from('1')
  if (kind === 'xml' && bytes >= '<o/>'.length) return Buffer.from(`<o${' '.repeat(bytes - 4)}/>`)
  throw new Error(`there is no ${kind} body of ${bytes} bytes`)
}

/** Words and numbers of so many characters. The step is prime, so that the text repeats late. */
function filling(length: number): string {
  const parts: string[] = []
  let made = 0
  for (let i = 0; made < length; i++) {
    const part = `${WORDS[(i * 7 + (i >> 4)) % WORDS.length]} ${(i * 7919) % 10_000} `
    parts.push(part)
    made += part.length
  }
  return parts.join('').slice(0, length)
}
