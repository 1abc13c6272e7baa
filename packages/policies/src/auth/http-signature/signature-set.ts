import { parseDictionary } from '../../shared/structured-field/parser.js'
import {
  type InnerList,
  isInnerList,
  type Parameters,
} from '../../shared/structured-field/structured-field.js'

/** A signature of a message, from both of its fields. */
export interface MessageSignature {
  readonly label: string
  readonly input: InnerList
  readonly bytes: Buffer
  readonly created: number | null
  readonly expires: number | null
  readonly keyid: string | null
  readonly alg: string | null
  readonly nonce: string | null
  readonly tag: string | null
}

/** Maximum number of signatures in a message. Each may cost a verification. */
const MAX_SIGNATURES = 8
const MAX_COMPONENTS = 64
const MAX_NONCE_LENGTH = 256

/** Returns the signatures of a message, or null if its fields are malformed or do not match. */
export function signaturesOf(inputField: string, signatureField: string): MessageSignature[] | null {
  const inputs = parseDictionary(inputField)
  const signatures = parseDictionary(signatureField)
  if (inputs === null || signatures === null || inputs.size !== signatures.size) return null
  if (inputs.size === 0 || inputs.size > MAX_SIGNATURES) return null
  const set: MessageSignature[] = []
  for (const [label, input] of inputs) {
    const member = signatures.get(label)
    if (member === undefined || isInnerList(member) || member.item.type !== 'bytes') return null
    if (!isInnerList(input) || input.items.length > MAX_COMPONENTS) return null
    const signature = signatureOf(label, input, member.item.value)
    if (signature === null) return null
    set.push(signature)
  }
  return set
}

function signatureOf(label: string, input: InnerList, bytes: Buffer): MessageSignature | null {
  const { parameters } = input
  const created = numberOf(parameters, 'created')
  const expires = numberOf(parameters, 'expires')
  const keyid = textOf(parameters, 'keyid')
  const alg = textOf(parameters, 'alg')
  const nonce = textOf(parameters, 'nonce')
  const tag = textOf(parameters, 'tag')
  if (created === undefined || expires === undefined || keyid === undefined) return null
  if (alg === undefined || nonce === undefined || tag === undefined) return null
  if (nonce !== null && nonce.length > MAX_NONCE_LENGTH) return null
  return { label, input, bytes, created, expires, keyid, alg, nonce, tag }
}

/** Returns null if the parameter is absent, or undefined if it has the wrong type. */
function numberOf(parameters: Parameters, name: string): number | null | undefined {
  const parameter = parameters.get(name)
  if (parameter === undefined) return null
  return parameter.type === 'integer' ? parameter.value : undefined
}

function textOf(parameters: Parameters, name: string): string | null | undefined {
  const parameter = parameters.get(name)
  if (parameter === undefined) return null
  return parameter.type === 'string' ? parameter.value : undefined
}
