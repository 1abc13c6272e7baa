import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { LoadOptions } from '../model/engine.js'
import type { CallBody, GeneratedBody } from '../model/scenario.js'
import { ordersXml } from '../suite/orders.js'

/** Words for generated bodies, which compress about as well as typical text. */
const WORDS = ['alpha', 'river', 'stone', 'market', 'signal', 'copper', 'harbor', 'winter', 'meadow', 'orbit']

/** A stock order, for routing by content. A shorter body is a quoted string. */
const ORDER = ['{"order":{"symbol":"IBM","note":"', '"}}'] as const
const QUOTES = ['"', '"'] as const

/**
 * Returns the bytes of a body, always the same for the same description.
 * @throws Error if a generated body cannot be so short.
 */
export function bodyOf(body: CallBody): Buffer {
  return body.kind === 'given' ? Buffer.from(body.base64, 'base64') : generatedBody(body)
}

/** Writes a file for a load generator, readable only by its user, because it may contain secrets. Returns its path. */
export function writePrivate({ dir }: LoadOptions, name: string, content: string | Buffer): string {
  const file = join(dir, name)
  writeFileSync(file, content, { mode: 0o600 })
  return file
}

function generatedBody({ kind, bytes }: GeneratedBody): Buffer {
  if (kind === 'xml') return Buffer.from(ordersXml(bytes))
  const [before, after] = bytes < ORDER.join('').length ? QUOTES : ORDER
  const room = bytes - before.length - after.length
  if (room < 0) throw new RangeError(`there is no JSON body of ${bytes} bytes`)
  return Buffer.from(before + filling(room) + after)
}

/** Returns words and numbers of the given length. The step is a prime number, so that the text repeats late. */
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
