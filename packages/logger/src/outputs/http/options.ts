/** Options common to targets that receive records over HTTP. */
export interface HttpTargetOptions {
  readonly url: string
  readonly auth: { readonly username: string; readonly password: string } | { readonly token: string } | null
  /** True if the body is compressed with gzip. */
  readonly compress: boolean
  /** Timeout from the start of a request to the end of the response, in milliseconds. */
  readonly timeoutMs: number
  readonly tls: HttpTlsOptions
}

/** TLS options for the connection to the receiver. The file is PEM. */
export interface HttpTlsOptions {
  /** Certificate authorities to trust instead of the system's, or null. */
  readonly caFile: string | null
  /** True if any server certificate is accepted. */
  readonly insecure: boolean
}
