/** Encrypts with one key. Returns null if the plaintext is too long for the algorithm. */
export type Encryptor = (plain: Uint8Array, context: Uint8Array) => Buffer | null
/** Decrypts with one key. Returns null if that fails for any reason. */
export type Decryptor = (sealed: Uint8Array, context: Uint8Array) => Decrypted | Promise<Decrypted>
/** Decrypted bytes, or null if the decryption failed. */
export type Decrypted = Uint8Array | null
