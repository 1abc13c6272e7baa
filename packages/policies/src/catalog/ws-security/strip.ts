import type { XmlElement } from 'libxml2-wasm'
import { childrenNamed } from './elements.js'
import { NS } from './names.js'

/** What may be taken out of a message once it was checked. */
export type Strippable = 'header' | 'username-token' | 'signature' | 'timestamp' | 'encrypted-key' | 'token'

const ELEMENTS: Readonly<Record<Exclude<Strippable, 'header'>, readonly [string, string]>> = {
  'username-token': [NS.wsse, 'UsernameToken'],
  signature: [NS.ds, 'Signature'],
  timestamp: [NS.wsu, 'Timestamp'],
  'encrypted-key': [NS.xenc, 'EncryptedKey'],
  token: [NS.wsse, 'BinarySecurityToken'],
}

/** Takes it out of the Security header, or the header out of the message. Whether anything was there to take out. */
export function stripSecurity(security: XmlElement, what: ReadonlySet<Strippable>): boolean {
  if (what.has('header')) {
    security.remove()
    return true
  }
  let isChanged = false
  for (const kind of what) {
    if (kind === 'header') continue
    for (const element of childrenNamed(security, ...ELEMENTS[kind])) {
      element.remove()
      isChanged = true
    }
  }
  return isChanged
}
