import { createHmac, type KeyObject, webcrypto } from 'node:crypto'

/** The HMAC of an input. `hash` is the name that node:crypto has for it. */
export function mac(hash: string, key: KeyObject, input: Uint8Array): Buffer {
  return createHmac(hash, key).update(input).digest()
}

/** The same on a thread of Node's pool, for inputs that would hold up the requests of others. */
export async function macLater(hash: string, key: KeyObject, input: Uint8Array): Promise<Buffer> {
  const algorithm = { name: 'HMAC', hash: hash.replace('sha', 'SHA-') }
  const imported = await webcrypto.subtle.importKey('raw', key.export(), algorithm, false, ['sign'])
  return Buffer.from(await webcrypto.subtle.sign('HMAC', imported, input))
}
