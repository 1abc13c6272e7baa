import type { HttpTargetOptions } from '../http/options.js'

/** Options for the webhook output. */
export interface WebhookOptions extends HttpTargetOptions {
  /** Additional fields of every request. */
  readonly headers: Readonly<Record<string, string>>
  /** Body format: one record per line, or one JSON array. */
  readonly format: 'ndjson' | 'array'
  /** Signs the body as sent with HMAC-SHA-256, or null. */
  readonly signature: { readonly secret: string; readonly header: string } | null
}
