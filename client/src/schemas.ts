// Made from the service's OpenAPI document. It is not to be changed by hand.

export interface Schemas {
  problem: {
    type: string
    title: string
    status: number
    detail: string
    /** The number of the error; /docs/errors lists them. */
    code: number
    errors: Array<Schemas['problem_item']>
    requestId: string
    /** Of an atomic batch: what would have become of each operation. */
    data?: Array<Schemas['batch_item']>
    meta?: { [name: string]: unknown }
  }
  problem_item: {
    field: string | null
    /** A JSON pointer into the body; empty for the query. */
    path: string
    parameter?: string
    code: string
    message: string
    hint?: string
    /** The number of the interface's rule. */
    rule?: number
    /** Records with that name; send the id of one. */
    candidates?: Array<{
      id: number
      name: string | null
    }>
  }
  warning: {
    field: string
    code: string
    message: string
    /** A JSON pointer into the body; absent: about nothing in it. */
    path?: string
  }
  write_meta: {
    warnings?: Array<Schemas['warning']>
    created?: Array<{
      resource: string
      id: number
    }>
    /** Nothing was saved. */
    dryRun?: true
  }
  batch_item: {
    /** What its own request would have been answered. */
    status: number
    data?: { [name: string]: unknown }
    meta?: Schemas['write_meta']
    type?: string
    title?: string
    detail?: string
    code?: number
    errors?: Array<Schemas['problem_item']>
  }
  page_meta: {
    page: number | null
    pageSize: number
    total: number | null
    totalIsEstimate: boolean
    totalPages: number | null
    hasMore: boolean
    nextCursor: string | null
  }
  deletion: {
    id: number
    deleted: true
  }
  named: {
    id: number
    name: string
  }
  field: {
    internal_name: string
    field_name: string
    id: number
    source_id: number
    is_active: boolean
    type: "SINGLE_STRING" | "TEXT" | "SINGLE_NUMBER" | "PRODUCT" | "DROPDOWN" | "MULTISELECT" | "ADDRESS" | "OWNER" | "TERRITORY" | "DEAL" | "COMPANY" | "CONTACT" | "CONTACT_ONBOARD" | "COMPANY_ONBOARD" | "CONTACTS_ONBOARD" | "TAGS" | "TERRITORIES" | "STRING_LIST" | "COLUMN_LIST" | "DEAL_VALUE" | "MONETARY" | "PRICE_TAGS" | "PHONE" | "EMAIL" | "TIME" | "DATE" | "DATE_TIME" | "TIME_RANGE" | "DATE_RANGE" | "DATE_TIME_RANGE" | "JSON"
    config: {
      min_length?: number
      max_length?: number
      max_limit?: number
      max_digits?: number
      max_decimals?: number
      min?: number
      max?: number
      case_sensitive?: boolean
    }
    is_required: boolean
    is_read_only: boolean
    is_custom: boolean
    is_unique: boolean
    is_filterable: boolean
    is_sortable: boolean
    operators: Array<"eq" | "neq" | "in" | "nin" | "lt" | "lte" | "gt" | "gte" | "between" | "like" | "isnull" | "notnull" | "exists">
    is_expandable: boolean
    is_measurable: boolean
    default_value: unknown
    section: string
    rules: Array<number>
    version: number
    options?: Array<Schemas['named']>
    sub_fields?: Array<{
      name: string
      input_type: string
      display_name: string
      id: number
      type: string
      config: {
        min_length?: number
        max_length?: number
        max_limit?: number
        max_digits?: number
        max_decimals?: number
        min?: number
        max?: number
        case_sensitive?: boolean
        default?: number
      }
    }>
    related_field?: {
      id: number
      source: string
    }
    members?: Array<{
      name: string
      is_sortable: boolean
      operators: Array<"eq" | "neq" | "in" | "nin" | "lt" | "lte" | "gt" | "gte" | "between" | "like" | "isnull" | "notnull" | "exists">
    }>
    is_indexed?: boolean
    index?: {
      state: "building" | "ready" | "failed"
      progress: number | null
    }
    deleted_at?: string
  }
  field_list: {
    source: {
      is_enabled: boolean
      name: string
      id: number
      config?: { [name: string]: unknown }
    }
    fields: Array<Array<Schemas['field']>>
  }
  field_input: {
    /** Read-only. */
    id?: unknown
    /** Read-only. */
    source_id?: unknown
    /** Read-only. */
    options?: unknown
    /** Read-only. */
    sub_fields?: unknown
    /** Read-only. */
    related_field?: unknown
    /** Read-only. */
    is_read_only?: unknown
    /** Read-only. */
    is_custom?: unknown
    /** Read-only. */
    is_filterable?: unknown
    /** Read-only. */
    is_sortable?: unknown
    /** Read-only. */
    operators?: unknown
    /** Read-only. */
    is_expandable?: unknown
    /** Read-only. */
    is_measurable?: unknown
    /** Read-only. */
    members?: unknown
    /** Read-only. */
    rules?: unknown
    /** Read-only. */
    index?: unknown
    /** Read-only. */
    deleted_at?: unknown
    /** Read-only. */
    version?: unknown
    field_name?: string
    is_required?: boolean
    is_active?: boolean
    is_indexed?: boolean
    is_unique?: boolean
    config?: {
      case_sensitive?: boolean | null
    }
    /** A value that the field takes, or null. */
    default_value?: unknown
    section?: string
    position?: number | null
    source?: string
    type?: string
    internal_name?: string
  }
  field_new: {
    /** Read-only. */
    id?: unknown
    /** Read-only. */
    source_id?: unknown
    options?: Array<string | {
      name: string
      /** Read-only. */
      id?: unknown
    }> | null
    /** Read-only. */
    sub_fields?: unknown
    /** Read-only. */
    related_field?: unknown
    /** Read-only. */
    is_read_only?: unknown
    /** Read-only. */
    is_custom?: unknown
    /** Read-only. */
    is_filterable?: unknown
    /** Read-only. */
    is_sortable?: unknown
    /** Read-only. */
    operators?: unknown
    /** Read-only. */
    is_expandable?: unknown
    /** Read-only. */
    is_measurable?: unknown
    /** Read-only. */
    members?: unknown
    /** Read-only. */
    rules?: unknown
    /** Read-only. */
    index?: unknown
    /** Read-only. */
    deleted_at?: unknown
    /** Read-only. */
    version?: unknown
    field_name: string
    is_required?: boolean
    is_active?: boolean
    is_indexed?: boolean
    is_unique?: boolean
    config?: {
      case_sensitive?: boolean | null
    }
    /** A value that the field takes, or null. */
    default_value?: unknown
    section?: string
    position?: number | null
    source: string
    type: "SINGLE_STRING" | "TEXT" | "SINGLE_NUMBER" | "DROPDOWN" | "MULTISELECT" | "ADDRESS" | "OWNER" | "COMPANY" | "CONTACT" | "MONETARY" | "PHONE" | "EMAIL" | "TIME" | "DATE" | "TIME_RANGE" | "DATE_RANGE" | "DATE_TIME_RANGE"
    internal_name?: string | null
  }
  option: {
    id: number
    name: string
    position: number
    is_active: boolean
    is_default: boolean
  }
  option_input: {
    name?: string
    position?: number | null
    is_active?: boolean
    is_default?: boolean
    /** Read-only. */
    id?: unknown
  }
  option_new: Schemas['option_input'] & {
    name: string
  }
  choice: {
    id: number
    name: string
    position: number
    is_active: boolean
    is_default: boolean
    pipeline?: number
    kind?: "open" | "won" | "lost"
    probability?: number
    code?: string
    symbol?: string
    decimals?: number
  }
  choices_meta: {
    name: string
    source: string
    field_id: number | null
    hasMore: boolean
  }
  form: Array<{
    section: string
    fields: Array<string>
  }>
  form_input: Array<{
    section: string
    fields: Array<string>
  }>
  aggregate_group: {
    group?: number | string | null
    name?: string | null
    groups?: Array<{
      group_by: string
      group: number | string | null
      name: string | null
    }>
    count?: number
    deal_value?: Array<{
      currency: number
      currency_code: string | null
      value: number
    }>
    weighted_value?: Array<{
      currency: number
      currency_code: string | null
      value: number
    }>
    deal_value_in_base_currency?: {
      currency: number
      currency_code: string | null
      value: number
    }
    weighted_value_in_base_currency?: {
      currency: number
      currency_code: string | null
      value: number
    }
    without_rate?: number
  }
  board: {
    pipeline: Schemas['named'] | null
    currency: {
      id: number
      code: string
    }
    stages: Array<Schemas['board_stage']>
  }
  board_stage: {
    id: number
    name: string
    position?: number
    kind?: "open" | "won" | "lost"
    probability?: number
    rotting_days?: number | null
    count: number
    /** What the deals are worth in the base currency. */
    value?: number
    /** The same by their probability. */
    weighted_value?: number
    by_currency?: Array<{
      currency: number
      currency_code: string | null
      value: number
      count: number
    }>
    /** How many deals have a value that no rate converts. */
    without_rate?: number
    hasMore: boolean
    nextCursor: string | null
    records: Array<Schemas['deal']>
  }
  funnel: {
    pipeline: Schemas['named'] | null
    from: string | null
    to: string | null
    /** The oldest event that is kept: what was before is not known. */
    since: string | null
    /** How many deals entered the pipeline in the period. */
    deals: number
    won: number
    lost: number
    stages: Array<Schemas['funnel_stage']>
  }
  funnel_stage: {
    id: number
    name: string
    position?: number
    kind?: "open" | "won" | "lost"
    probability?: number
    rotting_days?: number | null
    /** Deals that came to this stage or further. */
    entered: number
    /** Those of them that came further. */
    went_on: number
    /** Deals that are lost and were in this open stage last. */
    lost_from: number
    /** went_on by entered; null where nothing entered. */
    conversion: number | null
    /** Of the stays in the stage that ended. */
    median_days: number | null
  }
  changes: {
    from: string
    to: string
    currency: {
      id: number
      code: string
    }
    before: Schemas['forecast']
    after: Schemas['forecast']
    steps: Array<Schemas['change_step']>
    owners?: Array<{
      sales_owner: Schemas['named'] | null
      before: Schemas['forecast']
      after: Schemas['forecast']
      steps: Array<Schemas['change_step']>
    }>
    /** True if there are more owners. */
    hasMore?: boolean
  }
  change_step: {
    kind: "new" | "reopened" | "came_in" | "grown" | "moved_forward" | "pulled_in" | "rates" | "other" | "slipped" | "moved_back" | "shrunk" | "went_out" | "deleted" | "lost" | "won"
    /** How many deals changed so. */
    count: number
    /** What it adds to the number of open deals. */
    open: number
    /** What it adds to the forecast, in the base currency. */
    value?: number
    /** The same by the probability. */
    weighted_value?: number
    /** What these deals are worth, in the base currency. */
    deal_value?: number
    deals?: Array<{
      id: number
      title: string
      before: Schemas['deal_state'] | null
      after: Schemas['deal_state'] | null
    }>
    hasMore?: boolean
  }
  deal_state: {
    sales_owner?: Schemas['named'] | null
    pipeline_stage?: Schemas['named'] | null
    expected_close_date?: string | null
    value?: number | null
    weighted_value?: number | null
  }
  forecast: {
    /** How many deals were open. */
    count: number
    /** In the base currency. */
    value?: number
    /** The same by the probability. */
    weighted_value?: number
    /** How many deals have a value that no rate converts. */
    without_rate?: number
  }
  job: {
    id: number
    kind: "import" | "bulk"
    resource: string
    name: string | null
    state: "waiting" | "running" | "paused" | "done" | "failed" | "cancelled"
    phase: "dry_run" | "run" | "revert" | null
    done: number
    created: number
    updated: number
    unchanged: number
    skipped: number
    refused: number
    reverted: number
    related: number
    /** Column of a file → how many of its values linked contacts and companies did not get. */
    not_taken: { [name: string]: number }
    /** Column of a file → how many entries records lost from the lists that it replaced. */
    replaced: { [name: string]: number }
    /** User who is out of use → how many rows that were imported name them. */
    users_out_of_use: { [name: string]: number }
    total: number | null
    /** Rows or records a second, of the time in which it worked. */
    rate: number | null
    problems: Array<{ [name: string]: unknown }>
    /** The counts of each phase that came to its end. */
    result: { [name: string]: unknown }
    error: string | null
    created_by: number
    created_at: string | null
    begun_at: string | null
    ended_at: string | null
    format?: "csv" | "jsonl" | "xlsx"
    /** Format, encoding, delimiter, sheet and header line: as sent, else as detected. */
    source?: { [name: string]: unknown }
    columns?: Array<{
      name: string
      samples: Array<unknown>
      /** open: the import waits for an answer to what it becomes. */
      state: "mapped" | "left_out" | "open"
      /** Why it is open or left out; null: somebody said so. */
      reason: string | null
      /** What an open column becomes with confirm; null: it is left out. */
      guess: string | null
    }>
    mapping?: Array<{ [name: string]: unknown }>
    /** Values of the rows that say nothing of a target. */
    defaults?: { [name: string]: unknown }
    values?: { [name: string]: unknown }
    formats?: { [name: string]: unknown }
    duplicates?: { [name: string]: unknown } | null
    targets?: Array<{ [name: string]: unknown }>
    values_to_map?: Array<{ [name: string]: unknown }>
  }
  job_page: {
    pageSize: number
    hasMore: boolean
    nextCursor: string | null
  }
  named_or_gone: {
    id: number
    name: string | null
  }
  delivery: {
    /** The seq of the event. */
    id: number
    /** The header webhook-id, the same however often it is sent. */
    webhook_id: string
    type: string
    resource: string
    record: number
    state: "waiting" | "delivered" | "dead"
    created_at: string
    next_attempt_at: string | null
    attempts: number
    status: number | null
    error: string | null
    duration_ms: number | null
    /** The first kilobyte of the last answer. */
    answer: string | null
    log: Array<{
      at: string
      status: number | null
      error: string | null
      duration_ms: number
    }>
  }
  event: {
    seq: number
    type: string
    also: Array<string>
    at: string
    resource: string
    id: number
    version: number
    actor: {
      id: number | null
      name: string | null
      token?: Schemas['named_or_gone']
      job?: {
        id: number
      }
      request_id: string | null
      /** Set if an agent wrote it. */
      origin?: "mcp"
      client?: string | null
    }
    changes: Array<{
      field: string
      label: string
      from: unknown
      to: unknown
      from_name?: unknown
      to_name?: unknown
    }>
  }
  feed_event: {
    seq: number
    type: string
    also: Array<string>
    at: string
    resource: string
    id: number
    version: number
    actor: {
      id: number | null
      name: string | null
      token?: Schemas['named_or_gone']
      job?: {
        id: number
      }
      request_id: string | null
      /** Set if an agent wrote it. */
      origin?: "mcp"
      client?: string | null
    }
    changes: Array<{
      field: string
      label: string
      from: unknown
      to: unknown
      from_name?: unknown
      to_name?: unknown
    }>
    record?: { [name: string]: unknown } | null
  }
  search_hit: {
    resource: string
    id: number
    name: string | null
    detail: string | null
  }
  inbox_item: {
    /** Stays the same; it is of this person alone. */
    id: string
    kind: "mention" | "assignment" | "due" | "rotting" | "job"
    /** When it happened or was due, by which the list is sorted. */
    at: string
    read_at: string | null
    /** An activity, a deal or a job. */
    record: {
      resource: string
      id: number
      name: string | null
    }
    /** What the activity is about. */
    about: {
      resource: string
      id: number
      name: string | null
    } | null
    actor: {
      id: number
      name: string
    } | null
    /** How many records: more than one where a job assigned them. */
    count: number
    /** An open page shows it when its time has come. */
    is_reminder: boolean
    /** When the activity is due. */
    due: string | null
  }
  inbox_meta: {
    pageSize: number
    hasMore: boolean
    nextCursor: string | null
    /** Unread items of all kinds that are shown; 1000 are 1000 or more. */
    unread: number
    /** Unread ones from a day ago to a day ahead, the earliest first. */
    reminders: Array<{
      /** Stays the same; it is of this person alone. */
      id: string
      kind: "mention" | "assignment" | "due" | "rotting" | "job"
      /** When it happened or was due, by which the list is sorted. */
      at: string
      read_at: string | null
      /** An activity, a deal or a job. */
      record: {
        resource: string
        id: number
        name: string | null
      }
      /** What the activity is about. */
      about: {
        resource: string
        id: number
        name: string | null
      } | null
      actor: {
        id: number
        name: string
      } | null
      /** How many records: more than one where a job assigned them. */
      count: number
      /** An open page shows it when its time has come. */
      is_reminder: boolean
      /** When the activity is due. */
      due: string | null
    }>
  }
  inbox_settings: {
    kinds?: {
      mention?: Array<"app">
      assignment?: Array<"app">
      due?: Array<"app">
      rotting?: Array<"app">
      job?: Array<"app">
    }
    /** When no reminder pops up, by the clock of the person; the items come all the same. */
    quiet?: {
      from: string
      to: string
    } | null
  }
  person: {
    id: number
    name: string
    /** False: they may not see it, and can not be mentioned. */
    sees: boolean
  }
  caller: {
    account: {
      id: number
      name: string
      time_zone: string
      locale: string | null
      base_currency: number
    }
    user: {
      id: number
      name: string
      email: string
      role: number
      time_zone: string | null
      locale: string | null
    }
    scopes: Array<string>
    follows_events: boolean
    token: Schemas['named'] | null
    session: {
      id: number
    } | null
  }
  account_settings: {
    id: number
    name: string
    time_zone: string
    locale: string | null
    base_currency: number
    base_currency_code: string
  }
  account_input: {
    name?: string
    /** Of the IANA list, such as Europe/Paris. */
    time_zone?: string
    /** BCP 47; null: as each browser has it. */
    locale?: string | null
    /** The id or the code of a currency. */
    base_currency?: number | string
  }
  account_meta: {
    recalculated?: {
      rates: number
      open_deals: number
      closed_deals: number
      products: number
    }
    /** Nothing was saved. */
    dryRun?: true
  }
  own_settings: {
    time_zone?: string | null
    locale?: string | null
  }
  session: {
    id: number
    created_at: string
    last_used_at: string
    address: string | null
    user_agent: string | null
    is_current: boolean
  }
  link: {
    link: string | null
    url: string | null
    expires_at: string
  }
  sign_in: {
    email: string
    password: string
    account?: number | null
  } | {
    link: string
    password?: string | null
  }
  deal: {
    /** ID Read-only. */
    id?: number | null
    /** Title */
    title?: string
    /** Pipeline */
    pipeline?: number
    /** Stage */
    pipeline_stage?: number
    /** Primary contact */
    primary_contact?: number
    /** Related contacts */
    related_contacts?: Array<number> | null
    /** Sales owner */
    sales_owner?: number
    /** Company */
    company?: number | null
    /** Deal value */
    deal_value?: {
      currency: number
      currency_code: string
      value: number
      products: Array<{
        product: number
        name: string | null
        product_code: string | null
        quantity: number
        unit_price: number
        discount: number | null
        tax: number | null
        amount: number
      }>
    } | null
    /** Weighted value The value times the probability of the stage. Read-only. */
    weighted_value?: {
      currency: number
      currency_code: string
      value: number
    } | null
    /** Expected deal value */
    expected_deal_value?: {
      currency: number
      currency_code: string
      value: number
    } | null
    /** Product amount Read-only. */
    product_amount?: {
      currency: number
      currency_code: string
      value: number
    } | null
    /** Deal value in base currency The value at the rate of its currency. It stays as it is when the deal is closed. Read-only. */
    deal_value_in_base_currency?: {
      currency: number
      currency_code: string
      value: number
    } | null
    /** Product quantity Read-only. */
    product_quantity?: number | null
    /** Source */
    source?: number | null
    /** Territory */
    territory?: number | null
    /** Tags */
    tags?: Array<number> | null
    /** Description */
    description?: string | null
    /** Type */
    type?: number | null
    /** Payment status */
    payment_status?: number | null
    /** Won reason */
    won_reason?: number | null
    /** Lost reason */
    lost_reason?: number | null
    /** Closed on */
    deal_closed_on?: string | null
    /** Expected close date */
    expected_close_date?: string | null
    /** Forecast category */
    forecast_category?: number | null
    /** Status It follows from the stage: to win, lose or reopen a deal, set its pipeline_stage. Read-only. */
    status?: number
    /** Rotting days Read-only. */
    rotting_days?: number | null
    /** Age Read-only. */
    age?: number | null
    /** Stage probability Read-only. */
    stage_probability?: number | null
    /** Won time Read-only. */
    won_time?: string | null
    /** Lost time Read-only. */
    lost_time?: string | null
    /** Stage updated at Read-only. */
    deal_stage_updated_at?: string | null
    /** Last assigned at Read-only. */
    last_assigned_at?: string | null
    /** Done activities Read-only. */
    done_activities?: number
    /** Upcoming activities Read-only. */
    upcoming_activities?: number
    /** Total activities Read-only. */
    total_activities?: number
    /** E-mail messages Read-only. */
    email_message_count?: number
    /** Last e-mail received Read-only. */
    last_email_received?: string | null
    /** Last e-mail sent Read-only. */
    last_email_sent?: string | null
    /** Last activity date Read-only. */
    last_activity_date?: string | null
    /** Next activity date Read-only. */
    next_activity_date?: string | null
    /** Next activity at Read-only. */
    next_activity_at?: string | null
    /** Next activity Read-only. */
    next_activity_subject?: string | null
    /** Last activity type Read-only. */
    last_activity_type?: string | null
    /** Web forms Read-only. */
    web_forms?: string | null
    /** Recent note Read-only. */
    recent_note?: string | null
    /** Created at Read-only. */
    created_at?: string
    /** Updated at Read-only. */
    updated_at?: string
    /** Created by Read-only. */
    created_by?: number | null
    /** Updated by Read-only. */
    updated_by?: number | null
    /** Metadata */
    metadata?: { [name: string]: unknown } | null
    /** Version Read-only. */
    version?: number | null
    /** Deleted at Read-only. */
    deleted_at?: string | null
    /** Deleted by Read-only. */
    deleted_by?: number | null
    /** The names that expand asks for. */
    _expanded?: { [name: string]: Schemas['named'] | null | Array<Schemas['named'] | null> }
  }
  deal_read: Schemas['deal'] & {
    id: number | null
    title: string
    pipeline: number
    pipeline_stage: number
    primary_contact: number
    related_contacts: Array<number> | null
    sales_owner: number
    company: number | null
    deal_value: {
      currency: number
      currency_code: string
      value: number
      products: Array<{
        product: number
        name: string | null
        product_code: string | null
        quantity: number
        unit_price: number
        discount: number | null
        tax: number | null
        amount: number
      }>
    } | null
    weighted_value: {
      currency: number
      currency_code: string
      value: number
    } | null
    expected_deal_value: {
      currency: number
      currency_code: string
      value: number
    } | null
    product_amount: {
      currency: number
      currency_code: string
      value: number
    } | null
    deal_value_in_base_currency: {
      currency: number
      currency_code: string
      value: number
    } | null
    product_quantity: number | null
    source: number | null
    territory: number | null
    tags: Array<number> | null
    description: string | null
    type: number | null
    payment_status: number | null
    won_reason: number | null
    lost_reason: number | null
    deal_closed_on: string | null
    expected_close_date: string | null
    forecast_category: number | null
    status: number
    rotting_days: number | null
    age: number | null
    stage_probability: number | null
    won_time: string | null
    lost_time: string | null
    deal_stage_updated_at: string | null
    last_assigned_at: string | null
    done_activities: number
    upcoming_activities: number
    total_activities: number
    email_message_count: number
    last_email_received: string | null
    last_email_sent: string | null
    last_activity_date: string | null
    next_activity_date: string | null
    next_activity_at: string | null
    next_activity_subject: string | null
    last_activity_type: string | null
    web_forms: string | null
    recent_note: string | null
    created_at: string
    updated_at: string
    created_by: number | null
    updated_by: number | null
    metadata: { [name: string]: unknown } | null
    version: number | null
    deleted_at: string | null
    deleted_by: number | null
  }
  deal_input: {
    /** Read-only. */
    id?: unknown
    /** Title */
    title?: string
    /** Pipeline An option: its id or its name. */
    pipeline?: number | string
    /** Stage An option: its id or its name. A stage of the pipeline. One of the kind Won or Lost closes the deal; send the reason and deal_closed_on with it. */
    pipeline_stage?: number | string
    /** Primary contact Give a contact by its id, e-mail or full name. */
    primary_contact?: number | string | {
      id: number | string
    } | Schemas['contact_new'] | {
      find_by: "email" | "name"
    }
    /** Related contacts Give a contact by its id, e-mail or full name. */
    related_contacts?: number | string | {
      id: number | string
    } | Schemas['contact_new'] | {
      find_by: "email" | "name"
    } | Array<number | string | {
      id: number | string
    } | Schemas['contact_new'] | {
      find_by: "email" | "name"
    }> | null
    /** Sales owner Give a user by its id, e-mail or full name. */
    sales_owner?: number | string
    /** Company Give a company by its id or name. */
    company?: number | string | {
      id: number | string
    } | Schemas['company_new'] | {
      find_by: "email" | "name"
    } | null
    /** Deal value Where products are sent without a value, the deal becomes worth their sum. */
    deal_value?: {
      /** Its id, code or name, such as EUR. */
      currency?: number | string | null
      currency_code?: unknown
      value?: number | string | null
      /** The product lines. They are replaced whole: send those that stay, too. */
      products?: Array<{
        /** A product: its id, code or name. */
        product: number | string
        quantity: number | string
        /** The product's own in the deal's currency if it is left out. */
        unit_price?: number | string | null
        discount?: number | string | null
        tax?: number | string | null
        name?: unknown
        product_code?: unknown
        amount?: unknown
      }> | null
    } | null
    /** The value times the probability of the stage. Read-only. */
    weighted_value?: unknown
    /** Expected deal value */
    expected_deal_value?: {
      /** Its id, code or name, such as EUR. */
      currency?: number | string | null
      currency_code?: unknown
      value?: number | string | null
    } | null
    /** Read-only. */
    product_amount?: unknown
    /** The value at the rate of its currency. It stays as it is when the deal is closed. Read-only. */
    deal_value_in_base_currency?: unknown
    /** Read-only. */
    product_quantity?: unknown
    /** Source An option: its id or its name. */
    source?: number | string | null
    /** Territory Give a territory by its id or name. */
    territory?: number | string | null
    /** Tags Give a tag by its id or name. */
    tags?: number | string | Array<number | string> | null
    /** Description */
    description?: string | null
    /** Type An option: its id or its name. */
    type?: number | string | null
    /** Payment status An option: its id or its name. */
    payment_status?: number | string | null
    /** Won reason An option: its id or its name. Needed with a stage of the kind Won. */
    won_reason?: number | string | null
    /** Lost reason An option: its id or its name. Needed with a stage of the kind Lost. */
    lost_reason?: number | string | null
    /** Closed on A date, such as 2026-03-31. Needed with a stage of the kind Won or Lost. */
    deal_closed_on?: string | null
    /** Expected close date A date, such as 2026-03-31. Needed with a forecast category. */
    expected_close_date?: string | null
    /** Forecast category An option: its id or its name. */
    forecast_category?: number | string | null
    /** It follows from the stage: to win, lose or reopen a deal, set its pipeline_stage. Read-only. */
    status?: unknown
    /** Read-only. */
    rotting_days?: unknown
    /** Read-only. */
    age?: unknown
    /** Read-only. */
    stage_probability?: unknown
    /** Read-only. */
    won_time?: unknown
    /** Read-only. */
    lost_time?: unknown
    /** Read-only. */
    deal_stage_updated_at?: unknown
    /** Read-only. */
    last_assigned_at?: unknown
    /** Read-only. */
    done_activities?: unknown
    /** Read-only. */
    upcoming_activities?: unknown
    /** Read-only. */
    total_activities?: unknown
    /** Read-only. */
    email_message_count?: unknown
    /** Read-only. */
    last_email_received?: unknown
    /** Read-only. */
    last_email_sent?: unknown
    /** Read-only. */
    last_activity_date?: unknown
    /** Read-only. */
    next_activity_date?: unknown
    /** Read-only. */
    next_activity_at?: unknown
    /** Read-only. */
    next_activity_subject?: unknown
    /** Read-only. */
    last_activity_type?: unknown
    /** Read-only. */
    web_forms?: unknown
    /** Read-only. */
    recent_note?: unknown
    /** Read-only. */
    created_at?: unknown
    /** Read-only. */
    updated_at?: unknown
    /** Read-only. */
    created_by?: unknown
    /** Read-only. */
    updated_by?: unknown
    /** Metadata */
    metadata?: { [name: string]: unknown } | null
    /** Read-only. */
    version?: unknown
    /** Read-only. */
    deleted_at?: unknown
    /** Read-only. */
    deleted_by?: unknown
    /** Read-only. */
    _expanded?: unknown
  }
  deal_new: Schemas['deal_input'] & {
    title: string
    pipeline: number | string
    pipeline_stage: number | string
    primary_contact: number | string | {
      id: number | string
    } | Schemas['contact_new'] | {
      find_by: "email" | "name"
    }
    sales_owner: number | string
  }
  product: {
    /** ID Read-only. */
    id?: number | null
    /** Name */
    name?: string
    /** Product code */
    product_code?: string | null
    /** Category */
    category?: number | null
    /** Unit price */
    unit_price?: Array<{
      currency: number
      currency_code: string
      price: number
      tax: number | null
      discount: number | null
    }> | null
    /** Active */
    active?: number | null
    /** Taxable */
    taxable?: number | null
    /** Quantity ordered */
    quantity_ordered?: number | null
    /** Quantity in stock */
    quantity_in_stock?: number | null
    /** Description */
    description?: string | null
    /** Type */
    type?: number | null
    /** SKU number */
    sku_number?: string | null
    /** Valid till */
    valid_till?: string | null
    /** Sales owner */
    sales_owner?: number | null
    /** Created by Read-only. */
    created_by?: number | null
    /** Updated by Read-only. */
    updated_by?: number | null
    /** Created at Read-only. */
    created_at?: string
    /** Updated at Read-only. */
    updated_at?: string
    /** Last assigned at Read-only. */
    last_assigned_at?: string | null
    /** Base currency amount Read-only. */
    base_currency_amount?: {
      currency: number
      currency_code: string
      value: number
    } | null
    /** Metadata */
    metadata?: { [name: string]: unknown } | null
    /** Version Read-only. */
    version?: number | null
    /** Deleted at Read-only. */
    deleted_at?: string | null
    /** Deleted by Read-only. */
    deleted_by?: number | null
    /** The names that expand asks for. */
    _expanded?: { [name: string]: Schemas['named'] | null | Array<Schemas['named'] | null> }
  }
  product_read: Schemas['product'] & {
    id: number | null
    name: string
    product_code: string | null
    category: number | null
    unit_price: Array<{
      currency: number
      currency_code: string
      price: number
      tax: number | null
      discount: number | null
    }> | null
    active: number | null
    taxable: number | null
    quantity_ordered: number | null
    quantity_in_stock: number | null
    description: string | null
    type: number | null
    sku_number: string | null
    valid_till: string | null
    sales_owner: number | null
    created_by: number | null
    updated_by: number | null
    created_at: string
    updated_at: string
    last_assigned_at: string | null
    base_currency_amount: {
      currency: number
      currency_code: string
      value: number
    } | null
    metadata: { [name: string]: unknown } | null
    version: number | null
    deleted_at: string | null
    deleted_by: number | null
  }
  product_input: {
    /** Read-only. */
    id?: unknown
    /** Name */
    name?: string
    /** Product code */
    product_code?: string | number | null
    /** Category An option: its id or its name. */
    category?: number | string | null
    /** Unit price */
    unit_price?: Array<unknown> | null
    /** Active An option: its id or its name. */
    active?: number | string | true | false | null
    /** Taxable An option: its id or its name. */
    taxable?: number | string | true | false | null
    /** Quantity ordered */
    quantity_ordered?: number | null
    /** Quantity in stock */
    quantity_in_stock?: number | null
    /** Description */
    description?: string | null
    /** Type An option: its id or its name. */
    type?: number | string | null
    /** SKU number */
    sku_number?: string | number | null
    /** Valid till A moment, such as 2026-03-31T09:30:00Z. */
    valid_till?: string | null
    /** Sales owner Give a user by its id, e-mail or full name. */
    sales_owner?: number | string | null
    /** Read-only. */
    created_by?: unknown
    /** Read-only. */
    updated_by?: unknown
    /** Read-only. */
    created_at?: unknown
    /** Read-only. */
    updated_at?: unknown
    /** Read-only. */
    last_assigned_at?: unknown
    /** Read-only. */
    base_currency_amount?: unknown
    /** Metadata */
    metadata?: { [name: string]: unknown } | null
    /** Read-only. */
    version?: unknown
    /** Read-only. */
    deleted_at?: unknown
    /** Read-only. */
    deleted_by?: unknown
    /** Read-only. */
    _expanded?: unknown
  }
  product_new: Schemas['product_input'] & {
    name: string
    /** If it is left out, "Yes". */
    active?: number | string | true | false | null
  }
  contact: {
    /** ID Read-only. */
    id?: number | null
    /** First name */
    first_name?: string | null
    /** Last name */
    last_name?: string
    /** Job title */
    job_title?: string | null
    /** Company */
    company?: number | null
    /** E-mails */
    emails?: Array<{
      /** One of: 1 work, 2 personal, 3 home, 4 other. */
      email_type: number
      email_value: string
    }> | null
    /** Phones */
    phones?: Array<{
      /** One of: 1 work, 2 phone, 3 mobile, 4 whatsapp, 5 telegram, 6 personal, 7 other. */
      phone_type: number
      phone_number: string
    }> | null
    /** Territory */
    territory?: number | null
    /** Created at Read-only. */
    created_at?: string
    /** Updated at Read-only. */
    updated_at?: string
    /** Created by Read-only. */
    created_by?: number | null
    /** Updated by Read-only. */
    updated_by?: number | null
    /** Metadata */
    metadata?: { [name: string]: unknown } | null
    /** Version Read-only. */
    version?: number | null
    /** Deleted at Read-only. */
    deleted_at?: string | null
    /** Deleted by Read-only. */
    deleted_by?: number | null
    /** The names that expand asks for. */
    _expanded?: { [name: string]: Schemas['named'] | null | Array<Schemas['named'] | null> }
  }
  contact_read: Schemas['contact'] & {
    id: number | null
    first_name: string | null
    last_name: string
    job_title: string | null
    company: number | null
    emails: Array<{
      /** One of: 1 work, 2 personal, 3 home, 4 other. */
      email_type: number
      email_value: string
    }> | null
    phones: Array<{
      /** One of: 1 work, 2 phone, 3 mobile, 4 whatsapp, 5 telegram, 6 personal, 7 other. */
      phone_type: number
      phone_number: string
    }> | null
    territory: number | null
    created_at: string
    updated_at: string
    created_by: number | null
    updated_by: number | null
    metadata: { [name: string]: unknown } | null
    version: number | null
    deleted_at: string | null
    deleted_by: number | null
  }
  contact_input: {
    /** Read-only. */
    id?: unknown
    /** First name */
    first_name?: string | null
    /** Last name */
    last_name?: string
    /** Job title */
    job_title?: string | null
    /** Company Give a company by its id or name. */
    company?: number | string | {
      id: number | string
    } | Schemas['company_new'] | {
      find_by: "email" | "name"
    } | null
    /** E-mails */
    emails?: {
      /** One of: 1 work, 2 personal, 3 home, 4 other. */
      email_type: unknown
      email_value: string
    } | Array<{
      /** One of: 1 work, 2 personal, 3 home, 4 other. */
      email_type: unknown
      email_value: string
    }> | null
    /** Phones */
    phones?: {
      /** One of: 1 work, 2 phone, 3 mobile, 4 whatsapp, 5 telegram, 6 personal, 7 other. */
      phone_type: unknown
      phone_number: string
    } | Array<{
      /** One of: 1 work, 2 phone, 3 mobile, 4 whatsapp, 5 telegram, 6 personal, 7 other. */
      phone_type: unknown
      phone_number: string
    }> | null
    /** Territory Give a territory by its id or name. */
    territory?: number | string | null
    /** Read-only. */
    created_at?: unknown
    /** Read-only. */
    updated_at?: unknown
    /** Read-only. */
    created_by?: unknown
    /** Read-only. */
    updated_by?: unknown
    /** Metadata */
    metadata?: { [name: string]: unknown } | null
    /** Read-only. */
    version?: unknown
    /** Read-only. */
    deleted_at?: unknown
    /** Read-only. */
    deleted_by?: unknown
    /** Read-only. */
    _expanded?: unknown
  }
  contact_new: Schemas['contact_input'] & {
    last_name: string
  }
  company: {
    /** ID Read-only. */
    id?: number | null
    /** Name */
    name?: string
    /** Website */
    website?: string | null
    /** Phones */
    phones?: Array<{
      /** One of: 1 work, 2 phone, 3 mobile, 4 whatsapp, 5 telegram, 6 personal, 7 other. */
      phone_type: number
      phone_number: string
    }> | null
    /** Address */
    address?: Array<{
      address_line1?: string
      address_line2?: string
      city?: string
      state?: string
      country?: string | number
      zipcode?: string
    }> | null
    /** Territory */
    territory?: number | null
    /** Created at Read-only. */
    created_at?: string
    /** Updated at Read-only. */
    updated_at?: string
    /** Created by Read-only. */
    created_by?: number | null
    /** Updated by Read-only. */
    updated_by?: number | null
    /** Metadata */
    metadata?: { [name: string]: unknown } | null
    /** Version Read-only. */
    version?: number | null
    /** Deleted at Read-only. */
    deleted_at?: string | null
    /** Deleted by Read-only. */
    deleted_by?: number | null
    /** The names that expand asks for. */
    _expanded?: { [name: string]: Schemas['named'] | null | Array<Schemas['named'] | null> }
  }
  company_read: Schemas['company'] & {
    id: number | null
    name: string
    website: string | null
    phones: Array<{
      /** One of: 1 work, 2 phone, 3 mobile, 4 whatsapp, 5 telegram, 6 personal, 7 other. */
      phone_type: number
      phone_number: string
    }> | null
    address: Array<{
      address_line1?: string
      address_line2?: string
      city?: string
      state?: string
      country?: string | number
      zipcode?: string
    }> | null
    territory: number | null
    created_at: string
    updated_at: string
    created_by: number | null
    updated_by: number | null
    metadata: { [name: string]: unknown } | null
    version: number | null
    deleted_at: string | null
    deleted_by: number | null
  }
  company_input: {
    /** Read-only. */
    id?: unknown
    /** Name */
    name?: string
    /** Website */
    website?: string | null
    /** Phones */
    phones?: {
      /** One of: 1 work, 2 phone, 3 mobile, 4 whatsapp, 5 telegram, 6 personal, 7 other. */
      phone_type: unknown
      phone_number: string
    } | Array<{
      /** One of: 1 work, 2 phone, 3 mobile, 4 whatsapp, 5 telegram, 6 personal, 7 other. */
      phone_type: unknown
      phone_number: string
    }> | null
    /** Address */
    address?: {
      address_line1?: string | null
      address_line2?: string | null
      city?: string | null
      state?: string | null
      country?: string | number | null
      zipcode?: string | number | null
    } | Array<{
      address_line1?: string | null
      address_line2?: string | null
      city?: string | null
      state?: string | null
      country?: string | number | null
      zipcode?: string | number | null
    }> | null
    /** Territory Give a territory by its id or name. */
    territory?: number | string | null
    /** Read-only. */
    created_at?: unknown
    /** Read-only. */
    updated_at?: unknown
    /** Read-only. */
    created_by?: unknown
    /** Read-only. */
    updated_by?: unknown
    /** Metadata */
    metadata?: { [name: string]: unknown } | null
    /** Read-only. */
    version?: unknown
    /** Read-only. */
    deleted_at?: unknown
    /** Read-only. */
    deleted_by?: unknown
    /** Read-only. */
    _expanded?: unknown
  }
  company_new: Schemas['company_input'] & {
    name: string
  }
  activity: {
    /** ID Read-only. */
    id?: number | null
    /** Kind 1 Call, 2 Meeting, 3 Task, 4 E-mail, 5 Note */
    kind?: number
    /** Subject */
    subject?: string
    /** Notes */
    notes?: string | null
    /** Due at */
    due_at?: string | null
    /** Duration in minutes */
    duration?: number | null
    /** Reminder, minutes before */
    reminder?: number | null
    /** Done at */
    done_at?: string | null
    /** Outcome */
    outcome?: string | null
    /** Owner */
    owner?: number | null
    /** Deal */
    deal?: number | null
    /** Contact */
    contact?: number | null
    /** Company */
    company?: number | null
    /** Created at Read-only. */
    created_at?: string
    /** Updated at Read-only. */
    updated_at?: string
    /** Created by Read-only. */
    created_by?: number | null
    /** Updated by Read-only. */
    updated_by?: number | null
    /** Metadata */
    metadata?: { [name: string]: unknown } | null
    /** Version Read-only. */
    version?: number | null
    /** Deleted at Read-only. */
    deleted_at?: string | null
    /** Deleted by Read-only. */
    deleted_by?: number | null
    /** The names that expand asks for. */
    _expanded?: { [name: string]: Schemas['named'] | null | Array<Schemas['named'] | null> }
  }
  activity_read: Schemas['activity'] & {
    id: number | null
    kind: number
    subject: string
    notes: string | null
    due_at: string | null
    duration: number | null
    reminder: number | null
    done_at: string | null
    outcome: string | null
    owner: number | null
    deal: number | null
    contact: number | null
    company: number | null
    created_at: string
    updated_at: string
    created_by: number | null
    updated_by: number | null
    metadata: { [name: string]: unknown } | null
    version: number | null
    deleted_at: string | null
    deleted_by: number | null
  }
  activity_input: {
    /** Read-only. */
    id?: unknown
    /** Kind An option: its id or its name. */
    kind?: number | string
    /** Subject */
    subject?: string
    /** Notes */
    notes?: string | null
    /** Due at A moment, such as 2026-03-31T09:30:00Z. */
    due_at?: string | null
    /** Duration in minutes */
    duration?: number | null
    /** Reminder, minutes before How long before due_at it is shown to its owner; empty: it is not. */
    reminder?: number | null
    /** Done at A moment, such as 2026-03-31T09:30:00Z. */
    done_at?: string | null
    /** Outcome */
    outcome?: string | null
    /** Owner Give a user by its id, e-mail or full name. */
    owner?: number | string | null
    /** Deal */
    deal?: number | null
    /** Contact Give a contact by its id, e-mail or full name. */
    contact?: number | string | null
    /** Company Give a company by its id or name. */
    company?: number | string | null
    /** Read-only. */
    created_at?: unknown
    /** Read-only. */
    updated_at?: unknown
    /** Read-only. */
    created_by?: unknown
    /** Read-only. */
    updated_by?: unknown
    /** Metadata */
    metadata?: { [name: string]: unknown } | null
    /** Read-only. */
    version?: unknown
    /** Read-only. */
    deleted_at?: unknown
    /** Read-only. */
    deleted_by?: unknown
    /** Read-only. */
    _expanded?: unknown
  }
  activity_new: Schemas['activity_input'] & {
    kind: number | string
    subject: string
  }
  user: {
    /** ID Read-only. */
    id?: number | null
    /** Name */
    name?: string
    /** E-mail */
    email?: string
    /** Role */
    role?: number
    /** Territories */
    territories?: Array<number> | null
    /** In use 1 Yes, 2 No */
    is_active?: number
    /** Time zone */
    time_zone?: string | null
    /** Language */
    locale?: string | null
    /** Created at Read-only. */
    created_at?: string
    /** Updated at Read-only. */
    updated_at?: string
    /** Created by Read-only. */
    created_by?: number | null
    /** Updated by Read-only. */
    updated_by?: number | null
    /** Metadata */
    metadata?: { [name: string]: unknown } | null
    /** Version Read-only. */
    version?: number | null
    /** Deleted at Read-only. */
    deleted_at?: string | null
    /** Deleted by Read-only. */
    deleted_by?: number | null
    /** The names that expand asks for. */
    _expanded?: { [name: string]: Schemas['named'] | null | Array<Schemas['named'] | null> }
  }
  user_read: Schemas['user'] & {
    id: number | null
    name: string
    email: string
    role: number
    territories: Array<number> | null
    is_active: number
    time_zone: string | null
    locale: string | null
    created_at: string
    updated_at: string
    created_by: number | null
    updated_by: number | null
    metadata: { [name: string]: unknown } | null
    version: number | null
    deleted_at: string | null
    deleted_by: number | null
  }
  user_input: {
    /** Read-only. */
    id?: unknown
    /** Name */
    name?: string
    /** E-mail */
    email?: string
    /** Role An option: its id or its name. */
    role?: number | string | null
    /** Territories Give a territory by its id or name. */
    territories?: number | string | Array<number | string> | null
    /** In use An option: its id or its name. */
    is_active?: number | string | true | false | null
    /** Time zone */
    time_zone?: string | null
    /** Language */
    locale?: string | null
    /** Read-only. */
    created_at?: unknown
    /** Read-only. */
    updated_at?: unknown
    /** Read-only. */
    created_by?: unknown
    /** Read-only. */
    updated_by?: unknown
    /** Metadata */
    metadata?: { [name: string]: unknown } | null
    /** Read-only. */
    version?: unknown
    /** Read-only. */
    deleted_at?: unknown
    /** Read-only. */
    deleted_by?: unknown
    /** Read-only. */
    _expanded?: unknown
  }
  user_new: Schemas['user_input'] & {
    name: string
    email: string
  }
  role: {
    /** ID Read-only. */
    id?: number | null
    /** Name */
    name?: string
    /** Comes with the account Read-only. */
    built_in?: string | null
    /** Scopes */
    scopes?: Array<string> | null
    /** Sees */
    visibility?: { [name: string]: unknown } | null
    /** May change */
    may_change?: { [name: string]: unknown } | null
    /** Hidden fields */
    hidden_fields?: Array<string> | null
    /** Locked fields */
    locked_fields?: Array<string> | null
    /** Created at Read-only. */
    created_at?: string
    /** Updated at Read-only. */
    updated_at?: string
    /** Created by Read-only. */
    created_by?: number | null
    /** Updated by Read-only. */
    updated_by?: number | null
    /** Metadata */
    metadata?: { [name: string]: unknown } | null
    /** Version Read-only. */
    version?: number | null
    /** Deleted at Read-only. */
    deleted_at?: string | null
    /** Deleted by Read-only. */
    deleted_by?: number | null
    /** The names that expand asks for. */
    _expanded?: { [name: string]: Schemas['named'] | null | Array<Schemas['named'] | null> }
  }
  role_read: Schemas['role'] & {
    id: number | null
    name: string
    built_in: string | null
    scopes: Array<string> | null
    visibility: { [name: string]: unknown } | null
    may_change: { [name: string]: unknown } | null
    hidden_fields: Array<string> | null
    locked_fields: Array<string> | null
    created_at: string
    updated_at: string
    created_by: number | null
    updated_by: number | null
    metadata: { [name: string]: unknown } | null
    version: number | null
    deleted_at: string | null
    deleted_by: number | null
  }
  role_input: {
    /** Read-only. */
    id?: unknown
    /** Name */
    name?: string
    /** Read-only. */
    built_in?: unknown
    /** Scopes */
    scopes?: string | Array<string> | null
    /** Sees */
    visibility?: { [name: string]: unknown } | null
    /** May change */
    may_change?: { [name: string]: unknown } | null
    /** Hidden fields */
    hidden_fields?: string | Array<string> | null
    /** Locked fields */
    locked_fields?: string | Array<string> | null
    /** Read-only. */
    created_at?: unknown
    /** Read-only. */
    updated_at?: unknown
    /** Read-only. */
    created_by?: unknown
    /** Read-only. */
    updated_by?: unknown
    /** Metadata */
    metadata?: { [name: string]: unknown } | null
    /** Read-only. */
    version?: unknown
    /** Read-only. */
    deleted_at?: unknown
    /** Read-only. */
    deleted_by?: unknown
    /** Read-only. */
    _expanded?: unknown
  }
  role_new: Schemas['role_input'] & {
    name: string
  }
  token: {
    /** ID Read-only. */
    id?: number | null
    /** Name */
    name?: string
    /** User */
    user?: number
    /** Scopes */
    scopes?: Array<string> | null
    /** Begins with Read-only. */
    prefix?: string | null
    /** Expires at */
    expires_at?: string | null
    /** Last used at Read-only. */
    last_used_at?: string | null
    /** Agent Read-only. */
    agent?: string | null
    /** Agent of Read-only. */
    agent_host?: string | null
    /** Agent last used at Read-only. */
    agent_used_at?: string | null
    /** Created at Read-only. */
    created_at?: string
    /** Updated at Read-only. */
    updated_at?: string
    /** Created by Read-only. */
    created_by?: number | null
    /** Updated by Read-only. */
    updated_by?: number | null
    /** Metadata */
    metadata?: { [name: string]: unknown } | null
    /** Version Read-only. */
    version?: number | null
    /** Deleted at Read-only. */
    deleted_at?: string | null
    /** Deleted by Read-only. */
    deleted_by?: number | null
    /** The names that expand asks for. */
    _expanded?: { [name: string]: Schemas['named'] | null | Array<Schemas['named'] | null> }
  }
  token_read: Schemas['token'] & {
    id: number | null
    name: string
    user: number
    scopes: Array<string> | null
    prefix: string | null
    expires_at: string | null
    last_used_at: string | null
    agent: string | null
    agent_host: string | null
    agent_used_at: string | null
    created_at: string
    updated_at: string
    created_by: number | null
    updated_by: number | null
    metadata: { [name: string]: unknown } | null
    version: number | null
    deleted_at: string | null
    deleted_by: number | null
  }
  token_input: {
    /** Read-only. */
    id?: unknown
    /** Name */
    name?: string
    /** User Give a user by its id, e-mail or full name. */
    user?: number | string | null
    /** Scopes */
    scopes?: string | Array<string> | null
    /** Read-only. */
    prefix?: unknown
    /** Expires at A moment, such as 2026-03-31T09:30:00Z. */
    expires_at?: string | null
    /** Read-only. */
    last_used_at?: unknown
    /** Read-only. */
    agent?: unknown
    /** Read-only. */
    agent_host?: unknown
    /** Read-only. */
    agent_used_at?: unknown
    /** Read-only. */
    created_at?: unknown
    /** Read-only. */
    updated_at?: unknown
    /** Read-only. */
    created_by?: unknown
    /** Read-only. */
    updated_by?: unknown
    /** Metadata */
    metadata?: { [name: string]: unknown } | null
    /** Read-only. */
    version?: unknown
    /** Read-only. */
    deleted_at?: unknown
    /** Read-only. */
    deleted_by?: unknown
    /** Read-only. */
    _expanded?: unknown
  }
  token_new: Schemas['token_input'] & {
    name: string
  }
  territory: {
    /** ID Read-only. */
    id?: number | null
    /** Name */
    name?: string
    /** Created at Read-only. */
    created_at?: string
    /** Updated at Read-only. */
    updated_at?: string
    /** Created by Read-only. */
    created_by?: number | null
    /** Updated by Read-only. */
    updated_by?: number | null
    /** Metadata */
    metadata?: { [name: string]: unknown } | null
    /** Version Read-only. */
    version?: number | null
    /** Deleted at Read-only. */
    deleted_at?: string | null
    /** Deleted by Read-only. */
    deleted_by?: number | null
    /** The names that expand asks for. */
    _expanded?: { [name: string]: Schemas['named'] | null | Array<Schemas['named'] | null> }
  }
  territory_read: Schemas['territory'] & {
    id: number | null
    name: string
    created_at: string
    updated_at: string
    created_by: number | null
    updated_by: number | null
    metadata: { [name: string]: unknown } | null
    version: number | null
    deleted_at: string | null
    deleted_by: number | null
  }
  territory_input: {
    /** Read-only. */
    id?: unknown
    /** Name */
    name?: string
    /** Read-only. */
    created_at?: unknown
    /** Read-only. */
    updated_at?: unknown
    /** Read-only. */
    created_by?: unknown
    /** Read-only. */
    updated_by?: unknown
    /** Metadata */
    metadata?: { [name: string]: unknown } | null
    /** Read-only. */
    version?: unknown
    /** Read-only. */
    deleted_at?: unknown
    /** Read-only. */
    deleted_by?: unknown
    /** Read-only. */
    _expanded?: unknown
  }
  territory_new: Schemas['territory_input'] & {
    name: string
  }
  tag: {
    /** ID Read-only. */
    id?: number | null
    /** Name */
    name?: string
    /** Created at Read-only. */
    created_at?: string
    /** Updated at Read-only. */
    updated_at?: string
    /** Created by Read-only. */
    created_by?: number | null
    /** Updated by Read-only. */
    updated_by?: number | null
    /** Metadata */
    metadata?: { [name: string]: unknown } | null
    /** Version Read-only. */
    version?: number | null
    /** Deleted at Read-only. */
    deleted_at?: string | null
    /** Deleted by Read-only. */
    deleted_by?: number | null
    /** The names that expand asks for. */
    _expanded?: { [name: string]: Schemas['named'] | null | Array<Schemas['named'] | null> }
  }
  tag_read: Schemas['tag'] & {
    id: number | null
    name: string
    created_at: string
    updated_at: string
    created_by: number | null
    updated_by: number | null
    metadata: { [name: string]: unknown } | null
    version: number | null
    deleted_at: string | null
    deleted_by: number | null
  }
  tag_input: {
    /** Read-only. */
    id?: unknown
    /** Name */
    name?: string
    /** Read-only. */
    created_at?: unknown
    /** Read-only. */
    updated_at?: unknown
    /** Read-only. */
    created_by?: unknown
    /** Read-only. */
    updated_by?: unknown
    /** Metadata */
    metadata?: { [name: string]: unknown } | null
    /** Read-only. */
    version?: unknown
    /** Read-only. */
    deleted_at?: unknown
    /** Read-only. */
    deleted_by?: unknown
    /** Read-only. */
    _expanded?: unknown
  }
  tag_new: Schemas['tag_input'] & {
    name: string
  }
  pipeline: {
    /** ID Read-only. */
    id?: number | null
    /** Name */
    name?: string
    /** Position */
    position?: number | null
    /** Default */
    is_default?: number | null
    /** Fields on cards */
    card_fields?: Array<string> | null
    /** Created at Read-only. */
    created_at?: string
    /** Updated at Read-only. */
    updated_at?: string
    /** Created by Read-only. */
    created_by?: number | null
    /** Updated by Read-only. */
    updated_by?: number | null
    /** Metadata */
    metadata?: { [name: string]: unknown } | null
    /** Version Read-only. */
    version?: number | null
    /** Deleted at Read-only. */
    deleted_at?: string | null
    /** Deleted by Read-only. */
    deleted_by?: number | null
    /** The names that expand asks for. */
    _expanded?: { [name: string]: Schemas['named'] | null | Array<Schemas['named'] | null> }
  }
  pipeline_read: Schemas['pipeline'] & {
    id: number | null
    name: string
    position: number | null
    is_default: number | null
    card_fields: Array<string> | null
    created_at: string
    updated_at: string
    created_by: number | null
    updated_by: number | null
    metadata: { [name: string]: unknown } | null
    version: number | null
    deleted_at: string | null
    deleted_by: number | null
  }
  pipeline_input: {
    /** Read-only. */
    id?: unknown
    /** Name */
    name?: string
    /** Position */
    position?: number | null
    /** Default An option: its id or its name. */
    is_default?: number | string | true | false | null
    /** Fields on cards The fields of a deal that its card on a board shows besides its title; empty: the usual ones. */
    card_fields?: string | Array<string> | null
    /** Read-only. */
    created_at?: unknown
    /** Read-only. */
    updated_at?: unknown
    /** Read-only. */
    created_by?: unknown
    /** Read-only. */
    updated_by?: unknown
    /** Metadata */
    metadata?: { [name: string]: unknown } | null
    /** Read-only. */
    version?: unknown
    /** Read-only. */
    deleted_at?: unknown
    /** Read-only. */
    deleted_by?: unknown
    /** Read-only. */
    _expanded?: unknown
  }
  pipeline_new: Schemas['pipeline_input'] & {
    name: string
  }
  pipeline_stage: {
    /** ID Read-only. */
    id?: number | null
    /** Pipeline */
    pipeline?: number
    /** Name */
    name?: string
    /** Position */
    position?: number | null
    /** Kind */
    kind?: number | null
    /** Probability */
    probability?: number | null
    /** Rotting days */
    rotting_days?: number | null
    /** Created at Read-only. */
    created_at?: string
    /** Updated at Read-only. */
    updated_at?: string
    /** Created by Read-only. */
    created_by?: number | null
    /** Updated by Read-only. */
    updated_by?: number | null
    /** Metadata */
    metadata?: { [name: string]: unknown } | null
    /** Version Read-only. */
    version?: number | null
    /** Deleted at Read-only. */
    deleted_at?: string | null
    /** Deleted by Read-only. */
    deleted_by?: number | null
    /** The names that expand asks for. */
    _expanded?: { [name: string]: Schemas['named'] | null | Array<Schemas['named'] | null> }
  }
  pipeline_stage_read: Schemas['pipeline_stage'] & {
    id: number | null
    pipeline: number
    name: string
    position: number | null
    kind: number | null
    probability: number | null
    rotting_days: number | null
    created_at: string
    updated_at: string
    created_by: number | null
    updated_by: number | null
    metadata: { [name: string]: unknown } | null
    version: number | null
    deleted_at: string | null
    deleted_by: number | null
  }
  pipeline_stage_input: {
    /** Read-only. */
    id?: unknown
    /** Pipeline An option: its id or its name. */
    pipeline?: number | string
    /** Name */
    name?: string
    /** Position */
    position?: number | null
    /** Kind An option: its id or its name. */
    kind?: number | string | null
    /** Probability */
    probability?: number | null
    /** Rotting days */
    rotting_days?: number | null
    /** Read-only. */
    created_at?: unknown
    /** Read-only. */
    updated_at?: unknown
    /** Read-only. */
    created_by?: unknown
    /** Read-only. */
    updated_by?: unknown
    /** Metadata */
    metadata?: { [name: string]: unknown } | null
    /** Read-only. */
    version?: unknown
    /** Read-only. */
    deleted_at?: unknown
    /** Read-only. */
    deleted_by?: unknown
    /** Read-only. */
    _expanded?: unknown
  }
  pipeline_stage_new: Schemas['pipeline_stage_input'] & {
    pipeline: number | string
    name: string
    /** If it is left out, "Open". */
    kind?: number | string | null
  }
  currency: {
    /** ID Read-only. */
    id?: number | null
    /** Code Read-only. */
    code?: string | null
    /** Name */
    name?: string
    /** Symbol */
    symbol?: string
    /** Decimals Read-only. */
    decimals?: number | null
    /** Rate to the base currency */
    rate?: number | null
    /** In use 1 Yes, 2 No */
    is_active?: number
    /** Created at Read-only. */
    created_at?: string
    /** Updated at Read-only. */
    updated_at?: string
    /** Created by Read-only. */
    created_by?: number | null
    /** Updated by Read-only. */
    updated_by?: number | null
    /** Metadata */
    metadata?: { [name: string]: unknown } | null
    /** Version Read-only. */
    version?: number | null
    /** Deleted at Read-only. */
    deleted_at?: string | null
    /** Deleted by Read-only. */
    deleted_by?: number | null
    /** The names that expand asks for. */
    _expanded?: { [name: string]: Schemas['named'] | null | Array<Schemas['named'] | null> }
  }
  currency_read: Schemas['currency'] & {
    id: number | null
    code: string | null
    name: string
    symbol: string
    decimals: number | null
    rate: number | null
    is_active: number
    created_at: string
    updated_at: string
    created_by: number | null
    updated_by: number | null
    metadata: { [name: string]: unknown } | null
    version: number | null
    deleted_at: string | null
    deleted_by: number | null
  }
  currency_input: {
    /** Read-only. */
    id?: unknown
    /** Read-only. */
    code?: unknown
    /** Name */
    name?: string
    /** Symbol */
    symbol?: string
    /** Read-only. */
    decimals?: unknown
    /** Rate to the base currency */
    rate?: number | null
    /** In use An option: its id or its name. */
    is_active?: number | string | true | false
    /** Read-only. */
    created_at?: unknown
    /** Read-only. */
    updated_at?: unknown
    /** Read-only. */
    created_by?: unknown
    /** Read-only. */
    updated_by?: unknown
    /** Metadata */
    metadata?: { [name: string]: unknown } | null
    /** Read-only. */
    version?: unknown
    /** Read-only. */
    deleted_at?: unknown
    /** Read-only. */
    deleted_by?: unknown
    /** Read-only. */
    _expanded?: unknown
  }
  currency_new: Schemas['currency_input'] & {
    name: string
    symbol: string
    is_active: number | string | true | false
  }
  webhook: {
    /** ID Read-only. */
    id?: number | null
    /** Name */
    name?: string
    /** Address */
    url?: string
    /** Events */
    events?: Array<string>
    /** Filter */
    filter?: string | null
    /** In use 1 Yes, 2 No */
    is_active?: number
    /** Acts with the rights of */
    user?: number
    /** Why it is out of use Read-only. */
    disabled_reason?: string | null
    /** Secret rotated at Read-only. */
    rotated_at?: string | null
    /** Last event looked at Read-only. */
    last_seq?: number | null
    /** Last delivered at Read-only. */
    last_delivered_at?: string | null
    /** Failing since Read-only. */
    failing_since?: string | null
    /** Last error Read-only. */
    last_error?: string | null
    /** Created at Read-only. */
    created_at?: string
    /** Updated at Read-only. */
    updated_at?: string
    /** Created by Read-only. */
    created_by?: number | null
    /** Updated by Read-only. */
    updated_by?: number | null
    /** Metadata */
    metadata?: { [name: string]: unknown } | null
    /** Version Read-only. */
    version?: number | null
    /** Deleted at Read-only. */
    deleted_at?: string | null
    /** Deleted by Read-only. */
    deleted_by?: number | null
    /** The names that expand asks for. */
    _expanded?: { [name: string]: Schemas['named'] | null | Array<Schemas['named'] | null> }
  }
  webhook_read: Schemas['webhook'] & {
    id: number | null
    name: string
    url: string
    events: Array<string>
    filter: string | null
    is_active: number
    user: number
    disabled_reason: string | null
    rotated_at: string | null
    last_seq: number | null
    last_delivered_at: string | null
    failing_since: string | null
    last_error: string | null
    created_at: string
    updated_at: string
    created_by: number | null
    updated_by: number | null
    metadata: { [name: string]: unknown } | null
    version: number | null
    deleted_at: string | null
    deleted_by: number | null
  }
  webhook_input: {
    /** Read-only. */
    id?: unknown
    /** Name */
    name?: string | null
    /** Address */
    url?: string
    /** Events */
    events?: string | Array<string>
    /** Filter */
    filter?: string | null
    /** In use An option: its id or its name. */
    is_active?: number | string | true | false | null
    /** Acts with the rights of Give a user by its id, e-mail or full name. */
    user?: number | string | null
    /** Read-only. */
    disabled_reason?: unknown
    /** Read-only. */
    rotated_at?: unknown
    /** Read-only. */
    last_seq?: unknown
    /** Read-only. */
    last_delivered_at?: unknown
    /** Read-only. */
    failing_since?: unknown
    /** Read-only. */
    last_error?: unknown
    /** Read-only. */
    created_at?: unknown
    /** Read-only. */
    updated_at?: unknown
    /** Read-only. */
    created_by?: unknown
    /** Read-only. */
    updated_by?: unknown
    /** Metadata */
    metadata?: { [name: string]: unknown } | null
    /** Read-only. */
    version?: unknown
    /** Read-only. */
    deleted_at?: unknown
    /** Read-only. */
    deleted_by?: unknown
    /** Read-only. */
    _expanded?: unknown
  }
  webhook_new: Schemas['webhook_input'] & {
    url: string
    events: string | Array<string>
  }
  view: {
    /** ID Read-only. */
    id?: number | null
    /** Name */
    name?: string
    /** Shows 1 deal, 2 product, 3 contact, 4 company, 5 activity */
    source?: number
    /** Mode 1 Table, 2 Board */
    mode?: number
    /** Filter */
    filter?: string | null
    /** Sort */
    sort?: string | null
    /** Columns */
    columns?: Array<{
      field: string
      width: number | null
      is_pinned: boolean
    }> | null
    /** Pipeline of the board */
    pipeline?: number | null
    /** Shared 1 Yes, 2 No */
    is_shared?: number
    /** Position */
    position?: number | null
    /** Created at Read-only. */
    created_at?: string
    /** Updated at Read-only. */
    updated_at?: string
    /** Created by Read-only. */
    created_by?: number | null
    /** Updated by Read-only. */
    updated_by?: number | null
    /** Metadata */
    metadata?: { [name: string]: unknown } | null
    /** Version Read-only. */
    version?: number | null
    /** Deleted at Read-only. */
    deleted_at?: string | null
    /** Deleted by Read-only. */
    deleted_by?: number | null
    /** The names that expand asks for. */
    _expanded?: { [name: string]: Schemas['named'] | null | Array<Schemas['named'] | null> }
  }
  view_read: Schemas['view'] & {
    id: number | null
    name: string
    source: number
    mode: number
    filter: string | null
    sort: string | null
    columns: Array<{
      field: string
      width: number | null
      is_pinned: boolean
    }> | null
    pipeline: number | null
    is_shared: number
    position: number | null
    created_at: string
    updated_at: string
    created_by: number | null
    updated_by: number | null
    metadata: { [name: string]: unknown } | null
    version: number | null
    deleted_at: string | null
    deleted_by: number | null
  }
  view_input: {
    /** Read-only. */
    id?: unknown
    /** Name */
    name?: string
    /** Shows An option: its id or its name. */
    source?: number | string
    /** Mode An option: its id or its name. */
    mode?: number | string | null
    /** Filter */
    filter?: string | null
    /** Sort */
    sort?: string | null
    /** Columns */
    columns?: Array<{
      field: string
      width?: number | null
      is_pinned?: boolean | null
    }> | null
    /** Pipeline of the board */
    pipeline?: number | null
    /** Shared An option: its id or its name. */
    is_shared?: number | string | true | false | null
    /** Position */
    position?: number | null
    /** Read-only. */
    created_at?: unknown
    /** Read-only. */
    updated_at?: unknown
    /** Read-only. */
    created_by?: unknown
    /** Read-only. */
    updated_by?: unknown
    /** Metadata */
    metadata?: { [name: string]: unknown } | null
    /** Read-only. */
    version?: unknown
    /** Read-only. */
    deleted_at?: unknown
    /** Read-only. */
    deleted_by?: unknown
    /** Read-only. */
    _expanded?: unknown
  }
  view_new: Schemas['view_input'] & {
    name: string
    source: number | string
  }
}
