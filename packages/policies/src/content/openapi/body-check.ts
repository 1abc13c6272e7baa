import { type Exchange, mediaType, OFFLOAD_BYTES, type Offload, UnreadableBody } from '@sluice/core'
import { codingIssue } from '../../shared/json/coding.js'
import { type JsonReading, jsonOf } from '../../shared/json/view.js'
import { headersOf, type Side } from '../../shared/message/side.js'
import { onOverload } from '../../shared/outcome/overload.js'
import { type Media, mediaFor } from './media.js'
import type { BodyTask, BodyVerdict } from './openapi-work.js'
import type { Schemas } from './schemas.js'

/** Result of a body check, including problems that are not schema violations. */
export type BodyFinding =
  | BodyVerdict
  | { readonly media: string }
  | { readonly tooLarge: true }
  | { readonly overloaded: true }

interface BodyCheckSettings {
  readonly schemas: Schemas
  readonly offload: Offload<BodyTask, BodyVerdict>
  readonly reading: JsonReading
  readonly maxBodyBytes: number
}

const overloaded = onOverload<BodyFinding>({ overloaded: true })

/** Checks bodies against the described media types. */
export class BodyCheck {
  readonly #settings: BodyCheckSettings

  constructor(settings: BodyCheckSettings) {
    this.#settings = settings
  }

  /** Returns the described media type of a message, or the reason why it is not described. */
  mediaOf(contentType: string | null, media: readonly Media[]): Media | string {
    if (contentType === null) return `the body has no media type; send ${ranges(media)}`
    return mediaFor(media, mediaType(contentType)) ?? `the media type is not described; send ${ranges(media)}`
  }

  check(
    x: Exchange,
    side: Side,
    [media, body]: readonly [Media, Uint8Array],
  ): BodyFinding | Promise<BodyFinding> {
    if (media.pointer === null && media.form === null) return { violations: [] }
    const issue = codingIssue(headersOf(x, side))
    if (issue !== null) return { media: `the body ${issue}` }
    if (body.length > this.#settings.maxBodyBytes) return { tooLarge: true }
    if (media.pointer === null) return { violations: media.form!(Buffer.from(body).toString()) }
    if (body.length < OFFLOAD_BYTES) return this.#inline(x, media, body)
    return this.#settings.offload.run({ pointer: media.pointer, direction: side, body }, x).catch(overloaded)
  }

  #inline(x: Exchange, { schema }: Media, body: Uint8Array): BodyVerdict {
    try {
      const { value } = jsonOf(x, body, this.#settings.reading)
      return { violations: this.#settings.schemas.check(schema, value, 'body') }
    } catch (error) {
      if (error instanceof UnreadableBody) return { unreadable: error.message }
      throw error
    }
  }
}

function ranges(media: readonly Media[]): string {
  return media.map(({ range }) => range).join(' or ')
}
