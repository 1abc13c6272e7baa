import { type Eventual, type Exchange, isFieldValue, type Outcome, type Reply, refusal } from '@sluice/core'
import { BODY_REFUSALS, tooLarge } from '../../engines/json/refusals.js'
import { note, refused } from '../../engines/json-schema/report.js'
import { codingIssue } from '../../shared/json/coding.js'
import {
  announcesCoding,
  headersOf,
  isChecked,
  limitBody,
  replaceBody,
  type Side,
} from '../../shared/message/side.js'
import { onOverload } from '../../shared/outcome/overload.js'
import type { SideConfig } from './schema.js'
import type { Transformed } from './transform-work.js'
import type { Transformer } from './transformer.js'

interface GateSettings {
  readonly side: Side
  readonly transformer: Transformer
  readonly contentType: string
  readonly maxBodyBytes: number
  readonly maxOutputBytes: number
}

const CONTENT_TYPES = {
  json: 'application/json',
  text: 'text/plain; charset=utf-8',
  xml: 'application/xml; charset=utf-8',
} as const

const overloaded = onOverload(BODY_REFUSALS.overloaded)

/** Returns the media type of the result. @throws Error if it is not a valid header value. */
export function contentTypeOf({ contentType, output }: SideConfig): string {
  const type = contentType ?? CONTENT_TYPES[output ?? 'json']
  if (isFieldValue(type)) return type
  throw new Error(
    "'contentType' has a character that is not allowed in headers: use visible ASCII and spaces",
  )
}

/** Replaces the body of a request or response with the transformed one. */
export class Gate {
  readonly #settings: GateSettings
  readonly #tooLarge: Reply

  constructor(settings: GateSettings) {
    this.#settings = settings
    this.#tooLarge = tooLarge(settings.maxBodyBytes)
  }

  /** Checks the head before the body is buffered. */
  begin(x: Exchange): Outcome {
    const { side, maxBodyBytes } = this.#settings
    if (!isChecked(x, side)) return null
    limitBody(x, side, maxBodyBytes)
    return announcesCoding(x, side) ? this.#unread(x) : null
  }

  transform(x: Exchange, body: Uint8Array): Eventual {
    const { side, transformer, maxBodyBytes } = this.#settings
    if (!isChecked(x, side)) return null
    const unread = this.#unread(x)
    if (unread !== null) return unread
    if (body.length > maxBodyBytes) return refused(x, side, this.#tooLarge)
    const result = transformer.transform(x, body)
    if (!(result instanceof Promise)) return this.#put(x, result)
    return result.then((late) => this.#put(x, late), overloaded)
  }

  /** Returns the refusal if the body must be read and cannot be. */
  #unread(x: Exchange): Outcome {
    const { side, transformer } = this.#settings
    const issue = transformer.readsBody ? codingIssue(headersOf(x, side)) : null
    return issue === null ? null : refused(x, side, refusal('GW_MEDIA_TYPE', `the body ${issue}`))
  }

  #put(x: Exchange, result: Transformed): Outcome {
    const { side, contentType, maxOutputBytes } = this.#settings
    if ('unreadable' in result) return refused(x, side, refusal('GW_BODY_UNPARSABLE', result.unreadable))
    if ('failed' in result) {
      if (result.isInput) return refused(x, side, refusal('GW_TRANSFORM_INPUT', result.failed))
      note(x, result.failed)
      return refusal(
        'GW_TRANSFORM_FAILED',
        'the transformation failed: see the log entry with this request id',
      )
    }
    const body = Buffer.from(result.text)
    if (body.length > maxOutputBytes) {
      note(x, `the result is larger than ${maxOutputBytes} bytes`)
      return refusal('GW_TRANSFORM_FAILED', 'the result of the transformation is too large')
    }
    replaceBody(x, side, body, contentType)
    return null
  }
}
