/** Options for the webhook output. */
export interface WebhookOptions {
  readonly url: string
  /** Additional fields of every request. */
  readonly headers: Readonly<Record<string, string>>
  readonly auth: { readonly username: string; readonly password: string } | { readonly token: string } | null
  /** Body format: one record per line, or one JSON array. */
  readonly format: 'ndjson' | 'array'
  /** True if the body is compressed with gzip. */
  readonly compress: boolean
  /** Timeout from the start of a request to the end of the response, in milliseconds. */
  readonly timeoutMs: number
  /** Signs the body as sent with HMAC-SHA-256, or null. */
  readonly signature: { readonly secret: string; readonly header: string } | null
  readonly tls: WebhookTlsOptions
}

/** TLS options for the connection to the receiver. The file is PEM. */
export interface WebhookTlsOptions {
  /** Certificate authorities to trust instead of the system's, or null. */
  readonly caFile: string | null
  /** True if any server certificate is accepted. */
  readonly insecure: boolean
}
