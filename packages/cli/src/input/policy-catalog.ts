import { lazyCatalog } from '@sluice/policies/catalog'

/** Catalog of the policies that documents of this process use. Loading all of them takes half a second. */
export const catalog = lazyCatalog()
