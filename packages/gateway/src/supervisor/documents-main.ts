import { lazyCatalog } from '@sluice/policies/catalog'
import { checkDocuments } from './document-checks.js'

// The file that the supervisor's thread for documents runs.
checkDocuments(lazyCatalog())
