import { lazyCatalog } from '@sluice/policies/catalog'
import { checkDocuments } from './document-checks.js'

// Entry file of the supervisor's document thread.
checkDocuments(lazyCatalog())
