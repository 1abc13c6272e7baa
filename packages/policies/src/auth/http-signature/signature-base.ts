import { serializeInnerList } from '../../shared/structured-field/serializer.js'
import type { InnerList } from '../../shared/structured-field/structured-field.js'
import type { Component, SignedMessage } from './component.js'

/**
 * Builds the signature base (RFC 9421 section 2.5), or returns the component that the message does not have.
 */
export function signatureBase(
  components: readonly Component[],
  input: InnerList,
  message: SignedMessage,
): { readonly text: string } | { readonly absent: Component } {
  let text = ''
  for (const component of components) {
    const value = component.read(message)
    if (value === null) return { absent: component }
    text += `${component.id}: ${value}\n`
  }
  return { text: `${text}"@signature-params": ${serializeInnerList(input)}` }
}
