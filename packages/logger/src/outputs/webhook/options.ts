/** A receiver of records over HTTP. */
export interface WebhookOptions {
  readonly url: string
  /** Sent with every request. */
  readonly headers: Readonly<Record<string, string>>
  readonly auth: { readonly username: string; readonly password: string } | { readonly token: string } | null
  /** One record a line, or one JSON array. */
  readonly format: 'ndjson' | 'array'
  /** Sends the body with gzip. */
  readonly compress: boolean
  /** From the begin of a request to the end of its answer. */
  readonly timeoutMs: number
  /** Signs the body as it is sent with HMAC-SHA-256. */
  readonly signature: { readonly secret: string; readonly header: string } | null
  readonly tls: WebhookTlsOptions
}

/** How an https receiver is trusted; files are PEM. */
export interface WebhookTlsOptions {
  /** Authorities to trust instead of the system's. */
  readonly caFile: string | null
  /** Accepts any certificate. */
  readonly insecure: boolean
}
