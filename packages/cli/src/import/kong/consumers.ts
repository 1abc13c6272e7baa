import { hashKey, hashPassword } from '@sluice/policies'
import { type DocumentDraft, filled, Reference } from '../draft.js'
import type { SourceObject } from '../source-object.js'

/** A key that verifies tokens of one consumer. */
interface JwtKey {
  readonly issuer: string
  readonly algorithms: readonly string[]
  readonly pem?: string
  readonly secret?: Reference
  readonly secretEncoding?: string
}

const ALGORITHM = /^(HS|RS|ES|PS)(256|384|512)$/

/** Consumers of a Kong configuration with their credentials. */
export class KongConsumers {
  readonly #jwt: { readonly issuer: string; readonly algorithm: string; readonly pem?: string }[] = []

  /** Adds a consumer as a line of the consumers file. Keys and passwords are stored as digests. */
  async add(draft: DocumentDraft, consumer: SourceObject): Promise<void> {
    const id = consumer.text('username') ?? consumer.text('custom_id')
    consumer.ignore('id tags custom_id created_at')
    if (id === undefined) return
    const keys = consumer.objects('keyauth_credentials').flatMap((one, i) => {
      const key = one.text('key')
      one.ignore('id tags ttl created_at')
      one.finish()
      return key === undefined ? [] : [{ id: `kong-${i + 1}`, sha256: hashKey(key) }]
    })
    const [login, ...others] = consumer.objects('basicauth_credentials')
    const password = login?.text('password')
    const name = login?.text('username') ?? id
    login?.ignore('id tags')
    for (const one of others) one.leaveOut('username', 'a consumer has one password', 'add another consumer')
    if (password !== undefined && name !== id)
      consumer.note('username', 'the user name is also the id of the consumer')
    const groups = consumer.objects('acls').flatMap((one) => one.text('group') ?? [])
    for (const one of consumer.objects('jwt_secrets')) this.#addJwt(one)
    const remedy = 'use when: consumer.id == … on a policy'
    consumer.leaveOut('plugins', 'plugins of consumers are not mapped', remedy)
    consumer.leaveOut('groups', 'consumer groups are not mapped')
    consumer.finish()
    // One that is too short or too long has no hash: the consumer needs a new password.
    const hash = password === undefined ? undefined : await hashPassword(password).catch(() => undefined)
    const line = { groups: filled(groups), keys: filled(keys), password: hash }
    draft.consumers.push(JSON.stringify({ id: password === undefined ? id : name, ...line }))
  }

  /** Returns the keys that verify tokens. Symmetric secrets are references to variables. */
  jwtKeys(isBase64: boolean): JwtKey[] {
    return this.#jwt.map(({ issuer, algorithm, pem }) => {
      const name = `KONG_JWT_${issuer}`.toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_')
      const key = { issuer, algorithms: [algorithm] }
      if (pem !== undefined) return { ...key, pem }
      const secret = new Reference(`\${env:${name}}`)
      return { ...key, secret, ...(isBase64 && { secretEncoding: 'base64' }) }
    })
  }

  #addJwt(credential: SourceObject): void {
    const issuer = credential.text('key')
    const algorithm = credential.text('algorithm') ?? 'HS256'
    const pem = credential.text('rsa_public_key')
    const isSymmetric = algorithm.startsWith('HS')
    credential.ignore('id tags')
    if (issuer === undefined || !ALGORITHM.test(algorithm) || (pem === undefined && !isSymmetric)) return
    const remedy = 'set the variable that the key names'
    if (isSymmetric) credential.leaveOut('secret', 'secrets are not copied into the document', remedy)
    this.#jwt.push({ issuer, algorithm, ...(!isSymmetric && pem !== undefined && { pem }) })
  }
}
