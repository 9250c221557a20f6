/**
 * The columns of other systems' exports, and their targets here. For guesses only. No system publishes a full
 * list: these are the names of default fields in English. Exports in other languages differ.
 */
import { google, linkedin, outlook } from './template-address-books.ts'
import { atomic, espocrm, freshsales, twenty, zoho } from './template-crms.ts'
import { hubspot } from './template-hubspot.ts'
import { pipedrive } from './template-pipedrive.ts'
import { salesforce } from './template-salesforce.ts'
import { shopify, woocommerce } from './template-shops.ts'

/** Column → target, as in `targetsOf`; null: no field here. */
export type Template = { readonly [column: string]: string | null }

/** Resource → its columns. */
export type Templates = { readonly [resource: string]: Template }

/** The first system with the most columns of a file wins. */
export const templates = {
  ...{ pipedrive, hubspot, salesforce, zoho, freshsales, atomic, twenty, espocrm },
  ...{ google, outlook, linkedin, woocommerce, shopify },
} satisfies { readonly [system: string]: Templates }

export type System = keyof typeof templates
