/** Access to HashiCorp Vault or OpenBao. Null: from the environment. */
export interface VaultPlan {
  readonly address: string | null
  readonly namespace: string | null
  /** Mount of the KV secrets engine, without slashes at its ends. */
  readonly mount: string
  readonly engine: 'kv-v1' | 'kv-v2'
  readonly auth: VaultAuthPlan | null
  readonly caFile: string | null
  readonly refreshMs: number
  readonly timeoutMs: number
}

/** Login to Vault. */
export type VaultAuthPlan =
  | { readonly kind: 'token'; readonly token: string }
  | { readonly kind: 'tokenFile'; readonly file: string }
  | { readonly kind: 'kubernetes'; readonly role: string; readonly mount: string; readonly file: string }
  | {
      readonly kind: 'appRole'
      readonly roleId: string
      readonly secretId: string | null
      readonly mount: string
    }
