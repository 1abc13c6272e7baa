/** Verified client certificate of a mutual TLS connection. */
export interface ClientCertificate {
  /** Subject distinguished name (RFC 4514), such as `CN=billing,O=Example`. */
  readonly subject: string
  /** Distinguished name of the issuing authority. */
  readonly issuer: string
  /**
   * Subject alternative names (RFC 5280 section 4.2.1.6), such as `DNS:a.example` or
   * `URI:spiffe://example/billing`.
   */
  readonly names: readonly string[]
  /** Serial number in upper-case hexadecimal. */
  readonly serial: string
  /** SHA-256 fingerprint in lower-case hexadecimal without colons. */
  readonly fingerprint: string
  /** End of validity in milliseconds since the epoch, or Infinity if unknown. */
  readonly expiresAt: number
}
