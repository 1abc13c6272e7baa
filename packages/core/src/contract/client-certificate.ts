/** The certificate with which a client has proved who it is, verified by its listener (mutual TLS). */
export interface ClientCertificate {
  /** The distinguished name as text (RFC 4514), such as `CN=billing,O=Example`. */
  readonly subject: string
  /** That of the authority that has signed it. */
  readonly issuer: string
  /** The subject's alternative names (RFC 5280, 4.2.1.6), such as `DNS:a.example` or `URI:spiffe://example/billing`. */
  readonly names: readonly string[]
  /** Hexadecimal, upper case. */
  readonly serial: string
  /** SHA-256 of the certificate, hexadecimal in lower case without colons. */
  readonly fingerprint: string
  /** When its validity ends, ms since the epoch; infinite where nobody has said. */
  readonly expiresAt: number
}
