import { isUtf8 } from 'node:buffer'
import { FORM_TYPE, isJsonType } from '@sluice/core'
import type { JsonView } from '../../shared/json/view.js'
import type { BodyInput } from '../../shared/text/body-reading.js'
import { isWide, textsOfBody } from '../../shared/text/body-text.js'
import { redactedForm } from './form.js'
import { redactedJson } from './json.js'
import { needsStructure, type Rule, readsBody } from './rule.js'
import { redactedText, TooMuch } from './text.js'

/** The redacted body (null if unchanged), or the reason why it cannot be redacted. */
export type BodyOutcome = { readonly body: Uint8Array | null } | { readonly issue: 'opaque' | 'tooMuch' }

const NUL = 0

/** Applies the rules to a body. @throws UnreadableBody for a body that claims to be JSON and is not. */
export function redactedBody(input: BodyInput, rules: readonly Rule[], json: () => JsonView): BodyOutcome {
  const { body, kind } = input
  const bodyRules = rules.filter(readsBody)
  try {
    if (isJsonType(kind.type)) return outcome(redactedJson(json(), bodyRules))
    if (!isUtf8(body) || body.includes(NUL) || isWide(body, kind)) return { issue: 'opaque' }
    const [text] = textsOfBody(body, kind)
    const isForm = kind.type === FORM_TYPE
    if (bodyRules.some(isForm ? ({ paths }) => paths.length > 0 : needsStructure)) return { issue: 'opaque' }
    const redact = isForm ? redactedForm : redactedText
    const rest = bodyRules.reduce((left, rule) => redact(left, rule, rule.keys), text)
    return outcome(rest === text ? null : rest)
  } catch (error) {
    if (error instanceof TooMuch) return { issue: 'tooMuch' }
    throw error
  }
}

function outcome(text: string | null): BodyOutcome {
  return { body: text === null ? null : Buffer.from(text) }
}
