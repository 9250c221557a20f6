/**
 * Names of our fields, resources and operators in other systems: Pipedrive, HubSpot, Salesforce, Freshsales
 * and Zoho; and of the commonest in German, French and Spanish. For hints and guesses only; nothing is
 * accepted under these names. Knows no resource.
 */

/** A normalized name, without case, blanks and punctuation: closeDate and close_date match. */
export function bareName(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '')
}

/** Our name → its names elsewhere. Among our names, the first that the resource has is meant. */
const others: { readonly [name: string]: string } = {
  title: 'name dealname dealtitle opportunity opportunityname subject potentialname',
  name: 'title fullname productname itemname companyname accountname orgname',
  deal_value:
    'amount value dealamount dealvalue total totalvalue totalamount estimatedvalue revenue worth ' +
    'currency currencyid currencycode ' +
    'currencyisocode dealcurrencycode products product lines lineitems dealproducts opportunitylineitems',
  expected_deal_value: 'expectedamount expectedrevenue expectedvalue',
  deal_value_in_base_currency: 'basecurrencyamount amountinhomecurrency hsamountinhomecurrency baseamount',
  pipeline: 'pipelineid dealpipeline dealpipelineid hspipeline',
  pipeline_stage:
    'stage stageid stagename dealstage dealstageid hspipelinestage salesstage pipelinestageid ' +
    'opportunitystage',
  stage_probability: 'probability winprobability hsdealstageprobability',
  sales_owner:
    'owner ownerid userid assignedto assigneduser assigneduserid hubspotownerid salesperson salesrep',
  primary_contact:
    'contact contactid contactname person personid primarycontactid maincontact customer customerid whoid',
  related_contacts: 'contacts contactids people participants salescontactids',
  company:
    'companyid account accountid organization organisation organizationid orgid org salesaccount ' +
    'salesaccountid associatedcompanyid parentcustomerid',
  expected_close_date: 'close closedate closingdate expectedclose expectedclosing closeat datedue duedate',
  deal_closed_on: 'close closedate closedon closedat closedtime closetime closeddate wonon loston',
  won_reason: 'closedwonreason winreason reasonforwinning wonreasonid',
  lost_reason: 'closedlostreason lossreason reasonforloss lostreasonid dealreasonid dealreason',
  forecast_category: 'forecastcategoryname forecast hsforecastcategory hsmanualforecastcategory forecasttype',
  source: 'leadsource leadsourceid sourceid origin channel dealsource',
  type: 'dealtype dealtypeid opportunitytype recordtype producttype kind',
  payment_status: 'dealpaymentstatusid paymentstatusid paid',
  description: 'notes note comment comments body details summary nextstep',
  tags: 'tag label labels labelids keywords',
  territory: 'territoryid region regionid area',
  created_at: 'created createdate createddate createdtime addtime createdon dateentered',
  updated_at:
    'updated updatetime modified modifiedtime lastmodifieddate hslastmodifieddate modifiedon changed',
  created_by: 'creator creatorid createdbyid creatoruserid author',
  updated_by: 'updater updaterid modifiedby lastmodifiedbyid modifiedbyid',
  product_code: 'code productcode articlenumber itemnumber itemno partnumber internalreference defaultcode',
  sku_number: 'sku skunumber hssku',
  // The seller's cost is no unit price.
  unit_price: 'price prices listprice regularprice unitprice salesprice sellingprice pricing amount',
  category: 'productcategory family productfamily group',
  quantity_in_stock: 'stock qtyinstock stockquantity inventory onhand instock quantity',
  active: 'isactive enabled status state',
  first_name: 'firstname givenname forename',
  last_name: 'lastname surname familyname name fullname',
  job_title: 'title jobtitle position role',
  emails: 'email emailaddress emailaddresses mail workemail primaryemail',
  email: 'emailaddress mail login username',
  phones:
    'phone phonenumber phonenumbers cell cellphone cellular mobile mobilephone mobilenumber worknumber telephone tel',
  kind: 'type activitytype tasktype calltype engagementtype',
  subject: 'title name summary activitysubject tasksubject',
  notes: 'note body description comment comments content text details',
  due_at:
    'due duedate duetime dueon deadline start startat starttime startdate scheduledat activitydate when',
  duration: 'minutes length durationminutes durationinminutes',
  done_at: 'done isdone completed completedat completeddate completedtime finishedat markedasdone status',
  outcome: 'result disposition calldisposition calloutcome meetingoutcome',
  owner: 'ownerid assignedto assignee assigneduser assigneduserid userid hubspotownerid salesowner',
  deal: 'dealid deals opportunity opportunityid whatid potentialid targetableid',
  contact: 'contactid contacts person personid whoid participants',
  website: 'domain url web homepage',
  address: 'street city zip postalcode country billingaddress mailingaddress shippingaddress state',
}

/** Names in German, then French, then Spanish. */
const translated: { readonly [name: string]: string } = {
  title: 'titel bezeichnung geschäft titre affaire nom título titulo oportunidad nombre',
  name:
    'firmenname produktname bezeichnung artikelname artikelbezeichnung produktbezeichnung nom désignation ' +
    'nombre denominación',
  deal_value:
    'betrag wert auftragswert auftragsvolumen summe währung montant valeur devise importe monto valor ' +
    'moneda divisa',
  expected_deal_value: 'erwarteterwert erwarteterbetrag montantprévu importeprevisto',
  pipeline_stage: 'phase stufe verkaufsphase étape etapa fase',
  sales_owner:
    'besitzer eigentümer verantwortlicher verantwortlich zuständig betreuer verkäufer propriétaire ' +
    'responsable commercial propietario vendedor',
  primary_contact: 'kontakt kontaktperson ansprechpartner interlocuteur contacto',
  company: 'firma unternehmen kunde société entreprise client empresa compañía cliente',
  expected_close_date:
    'abschlussdatum erwarteterabschluss erwartetesabschlussdatum voraussichtlichesabschlussdatum ' +
    'voraussichtlicherabschluss datedeclôture datedeclôtureprévue clôtureprévue fechadecierre ' +
    'fechadecierreprevista cierreprevisto',
  deal_closed_on: 'abgeschlossenam geschlossenam clôturéle cerradoel',
  won_reason: 'gewinngrund',
  lost_reason: 'verlustgrund motifdeperte raisondelaperte motivodepérdida',
  source: 'quelle herkunft leadquelle origine origen fuente',
  type: 'typ tipo',
  description: 'beschreibung bemerkung bemerkungen notiz notizen descripción notas',
  tags: 'schlagwörter stichwörter étiquettes etiquetas',
  territory: 'gebiet vertriebsgebiet territoire territorio',
  created_at: 'erstellt erstelltam angelegtam erstelldatum crééle datedecréation creadoel fechadecreación',
  created_by: 'erstelltvon créépar creadopor',
  product_code: 'artikelnummer artikelnr artnr produktnummer référence referencia',
  unit_price:
    'preis einzelpreis listenpreis verkaufspreis prix prixunitaire prixdevente precio preciounitario ' +
    'preciodeventa',
  category: 'kategorie produktkategorie catégorie categoría',
  quantity_in_stock: 'bestand lagerbestand',
  first_name: 'vorname prénom nombre',
  last_name: 'nachname familienname nom nomdefamille apellido apellidos',
  job_title: 'funktion fonction poste cargo puesto',
  emails: 'emailadresse mailadresse courriel adresseemail correo correoelectrónico',
  phones:
    'telefon telefonnummer handy mobil mobiltelefon téléphone téléphoneportable portable teléfono ' +
    'teléfonomóvil móvil',
  subject: 'betreff titel objet sujet asunto',
  due_at: 'fällig fälligam échéance vencimiento',
  owner: 'besitzer eigentümer verantwortlicher zuständig propriétaire responsable propietario',
  contact: 'kontakt kontaktperson ansprechpartner contacto',
  website: 'webseite siteweb sitioweb',
  address: 'adresse anschrift dirección',
}

const meant = new Map<string, string[]>()
for (const [name, synonyms] of [...Object.entries(others), ...Object.entries(translated)])
  for (const word of synonyms.split(' '))
    meant.set(bareName(word), [...new Set([...(meant.get(bareName(word)) ?? []), name])])

/** True if a bare name means the currency of an amount. */
export function isCurrencyName(bare: string): boolean {
  return /currency|währung|devise|moneda|divisa/.test(bare) && !/amount|value|betrag|wert/.test(bare)
}

/** Our names for another system's `name`, the likeliest first. */
export function ourNames(name: string): readonly string[] {
  return meant.get(bareName(name)) ?? []
}

/** Our resource → its names elsewhere. */
const resourcesElsewhere: { readonly [name: string]: readonly string[] } = {
  deal: ['opportunity', 'potential'],
  contact: ['person', 'people', 'lead'],
  company: ['organization', 'organisation', 'account'],
  activity: ['note', 'task', 'call', 'meeting', 'engagement'],
  pipeline_stage: ['stage', 'dealstage'],
  user: ['owner', 'member'],
  tag: ['label'],
  field: ['property', 'customfield', 'dealfield'],
}

/** Our name for another system's resource `name`, singular or plural. */
export function ourResource(name: string): string | undefined {
  const bare = bareName(name)
  const isIt = (other: string) => bare === other || bare === pluralOf(other)
  return Object.entries(resourcesElsewhere).find(([, others]) => others.some(isIt))?.[0]
}

/** The plural of a resource's name. */
export function pluralOf(name: string): string {
  return name.endsWith('y') ? `${name.slice(0, -1)}ies` : `${name}s`
}

const operatorsMeant: { readonly [word: string]: string } = {
  contains: 'like',
  contain: 'like',
  ilike: 'like',
  icontains: 'like',
  includes: 'like',
  search: 'like',
  match: 'like',
  startswith: 'like',
  beginswith: 'like',
  endswith: 'like',
  equals: 'eq',
  equal: 'eq',
  is: 'eq',
  exact: 'eq',
  not: 'neq',
  ne: 'neq',
  isnot: 'neq',
  notequals: 'neq',
  any: 'in',
  anyof: 'in',
  oneof: 'in',
  notin: 'nin',
  noneof: 'nin',
  less: 'lt',
  lessthan: 'lt',
  before: 'lt',
  le: 'lte',
  max: 'lte',
  greater: 'gt',
  greaterthan: 'gt',
  after: 'gt',
  ge: 'gte',
  since: 'gte',
  min: 'gte',
  range: 'between',
  null: 'isnull',
  isnull: 'isnull',
  empty: 'isnull',
  isempty: 'isnull',
  isblank: 'isnull',
  notempty: 'notnull',
  isnotnull: 'notnull',
  notnull: 'notnull',
  isnotempty: 'notnull',
  has: 'exists',
  hasproperty: 'exists',
}

/** Our operator for another system's `word`. */
export function ourOperator(word: string): string | undefined {
  const bare = bareName(word.slice(0, 64))
  return Object.hasOwn(operatorsMeant, bare) ? operatorsMeant[bare] : undefined
}
