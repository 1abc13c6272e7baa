import { isUtf8 } from 'node:buffer'
import { FORM_TYPE, isJsonType } from '@sluice/core'
import type { JsonView } from '../../engines/json/view.js'
import type { BodyInput } from '../../shared/text/body-reading.js'
import { isWide, textsOfBody } from '../../shared/text/body-text.js'
import { redactedForm } from './form.js'
import { redactedJson } from './json.js'
import { needsStructure, type Rule, readsBody } from './rule.js'
import { redactedText, TooMuch } from './text.js'

/** The body that is left, null when it was not changed; or that the rules cannot look into it, or find too much. */
export type BodyOutcome = { readonly body: Uint8Array | null } | { readonly flaw: 'opaque' | 'tooMuch' }

const NUL = 0

/** A body after the rules. @throws UnreadableBody when it says that it is JSON and is not. */
export function redactedBody(input: BodyInput, rules: readonly Rule[], json: () => JsonView): BodyOutcome {
  const { body, kind } = input
  const meant = rules.filter(readsBody)
  try {
    if (isJsonType(kind.type)) return outcome(redactedJson(json(), meant))
    if (!isUtf8(body) || body.includes(NUL) || isWide(body, kind)) return { flaw: 'opaque' }
    const [text] = textsOfBody(body, kind)
    const isForm = kind.type === FORM_TYPE
    if (meant.some(isForm ? hasPaths : needsStructure)) return { flaw: 'opaque' }
    const redact = isForm ? redactedForm : redactedText
    const rest = meant.reduce((left, rule) => redact(left, rule, rule.keys), text)
    return outcome(rest === text ? null : rest)
  } catch (error) {
    if (error instanceof TooMuch) return { flaw: 'tooMuch' }
    throw error
  }
}

function hasPaths({ paths }: Rule): boolean {
  return paths.length > 0
}

function outcome(text: string | null): BodyOutcome {
  return { body: text === null ? null : Buffer.from(text) }
}
