import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { LoadOptions } from '../model/engine.js'
import type { CallBody, MadeBody } from '../model/scenario.js'
import { ordersXml } from '../suite/orders.js'

/** What fills a body up: words, so that it compresses about as well as what people send, and no better. */
const WORDS = ['alpha', 'river', 'stone', 'market', 'signal', 'copper', 'harbor', 'winter', 'meadow', 'orbit']

/** The order of a stock, which routes by content can look for; below its length a body is a text in quotes. */
const ORDER = ['{"order":{"symbol":"IBM","note":"', '"}}'] as const
const QUOTES = ['"', '"'] as const

/**
 * The bytes of a body, the same for the same description: those given, or made ones, which are well-formed.
 * @throws Error when there is nothing so short.
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
  if (kind === 'xml') return Buffer.from(ordersXml(bytes))
  const [before, after] = bytes < ORDER.join('').length ? QUOTES : ORDER
  const room = bytes - before.length - after.length
  if (room < 0) throw new RangeError(`there is no JSON body of ${bytes} bytes`)
  return Buffer.from(before + filling(room) + after)
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
