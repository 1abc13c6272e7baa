/** Error codes of policies that decrypt. */
export const CIPHER_ERRORS = {
  GW_DECRYPT_FAILED: {
    status: 400,
    title: 'Decryption failed',
    when: 'Part of the message could not be decrypted. For security, the response gives no details.',
    remedy: 'Encrypt with the key and algorithms of the policy.',
  },
} as const
