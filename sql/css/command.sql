-- needs: lattice/cells.sql, positions/command.sql, css/los.sql
-- Command in css (Guam): 2.0, 5.1, 13.0, 13.2, 24.2, 26.0.
--
-- A row for every HQ and Leader of the unit's side that is its own, or near enough to be
-- taken for one; then what command brings, and the verdict last. A counter that does not
-- tell its Division, Formation, stripe or command range is named, and nothing is assumed.
-- Corps Artillery is a unit of division `corps`.

create or replace function css._command_facts(attributes jsonb, kind text)
returns table (division text, formation text, stripe text)
language sql immutable parallel safe rows 1
as $$
  select
    -- 24.0: an Ambush Unit has no parent
    case when kind = 'ambush' then '' else attributes ->> 'division' end,
    attributes ->> 'formation',
    coalesce(
      case when kind = 'ambush' then 'white' else attributes ->> 'stripe' end,
      case when attributes ->> 'formation' is not null then 'formation' end
    )
$$;

comment on function css._command_facts(jsonb, text) is
'Whose a counter is; a Formation that is told stands for its stripe.';

create or replace function css._heads(position_id bigint, unit text, readings jsonb)
returns table (
  code text,
  label text,
  away integer,
  reach integer,
  -- formation_hq, division_hq or leader
  office text,
  -- own, every (a No-Stripe unit), no_stripe (a No-Stripe Leader), side (any Leader), formation or division
  -- (of another), white
  tie text,
  -- a Leader whom the readings of css-65 take differently
  disputed boolean,
  -- what a counter does not tell, and would have to
  untold text
)
language sql stable rows 8
as $$
  select
    head.code,
    hex.label,
    lattice.distance(asked.q, asked.r, head.q, head.r),
    case when head.kind = 'leader' then 1 else (head.attributes ->> 'command_range')::integer end,
    office.name,
    case
      when head.id = asked.id then 'own'
      when office.name = 'formation_hq' then
        case
          when hers.formation = his.formation and hers.stripe = 'formation' and not apart then 'own'
          when hers.stripe = 'none' and hers.division = his.division then 'every'
          when apart then 'division'
          when hers.stripe = 'white' then 'white'
          when hers.formation <> his.formation then 'formation'
        end
      when office.name = 'leader' and _heads.readings ->> 'css-65' = 'b' then 'side'
      when office.name = 'leader' and _heads.readings ->> 'css-65' = 'c' then
        case
          when kin.same then 'own'
          when apart then 'division'
          when not kin.same then 'formation'
        end
      when hers.division = his.division then 'own'
      when office.name = 'leader' and his.stripe = 'none' then 'no_stripe'
      when office.name = 'leader' and hers.formation = his.formation and not apart then 'own'
      when apart and (office.name = 'division_hq' or his.stripe is not null) then 'division'
    end,
    office.name = 'leader' and kin.same is not true,
    case
      when hers.division is null and (office.name <> 'formation_hq' or hers.stripe = 'none')
        then format('the Division of %s', asked.code)
      when his.division is null and (office.name <> 'formation_hq' or hers.stripe = 'none')
        then format('the Division of %s', head.code)
      when office.name = 'leader' and his.stripe is not null and hers.stripe is null
        then format('the stripe of %s', asked.code)
      when office.name = 'leader' then format('the stripe of %s', head.code)
      when his.formation is null then format('the Formation of %s', head.code)
      when hers.stripe is null then format('the stripe of %s', asked.code)
      else format('the Formation of %s', asked.code)
    end
  from public.unit as asked
  inner join public.unit as head
    on head.position_id = asked.position_id
      and head.side = asked.side
      and head.kind in ('hq', 'leader')
      and (head.id <> asked.id or head.kind = 'hq')
  inner join public.hex on hex.map_id = head.map_id and hex.q = head.q and hex.r = head.r
  cross join lateral css._command_facts(asked.attributes, asked.kind) as hers
  cross join lateral css._command_facts(head.attributes, head.kind) as his
  cross join lateral (
    select coalesce(hers.division <> his.division, hers.division = '', false) as apart
  ) as divisions
  -- 2.0: a No-Stripe counter is part of every Formation of its Division
  cross join lateral (
    select
      not apart
      and case
        when 'none' in (hers.stripe, his.stripe) or (hers.stripe = 'white' and his.stripe = 'white')
          then hers.division = his.division
        when hers.stripe = 'white' or his.stripe = 'white' then false
        else hers.formation = his.formation
      end as same
  ) as kin
  cross join lateral (
    select
      case
        when head.kind = 'leader' then 'leader'
        -- 5.3: a Division HQ is White-Striped
        when his.stripe = 'formation' then 'formation_hq'
        else 'division_hq'
      end as name
  ) as office
  where asked.position_id = _heads.position_id
    and asked.code = _heads.unit
    and asked.q is not null
$$;

comment on function css._heads(bigint, text, jsonb) is
'The HQs and Leaders of a unit''s side, how far each is, and whether he is its own as css-65 is read.';

-- The plan takes longer to make than to run: it is made once a session.
create or replace function css.command(
  position_id bigint,
  unit text,
  conditions jsonb default null,
  policy jsonb default null
)
returns setof rulings.command_step
language plpgsql stable rows 8
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  readings jsonb;
begin
  select positions.readings(position.id, command.policy)
  into readings
  from public.position
  where position.id = command.position_id;
  return query
  with asked as materialized (
    select
      counter.id,
      counter.q,
      counter.r,
      counter.side,
      counter.label,
      counter.kind = 'ambush' as ambush,
      coalesce(counter.attributes ->> 'division' ilike 'corps', false) as corps
    from positions.counter(command.position_id, command.unit) as counter
  ),
  judged as materialized (
    select
      head.*,
      case
        -- its own hex is in any range
        when head.away = 0 or head.away <= head.reach then
          case
            when head.tie in ('own', 'every', 'no_stripe', 'side') then 'commands'
            when head.tie is null then 'unknown'
            else 'does not command'
          end
        when head.away > head.reach then 'does not command'
        when head.tie is null or head.tie in ('own', 'every', 'no_stripe', 'side') then 'unknown'
        else 'does not command'
      end as effect,
      coalesce(head.away > head.reach, false) as far
    from css._heads(command.position_id, command.unit, readings) as head
  ),
  -- another's HQ or Leader speaks only where he could be taken for the unit's own
  told as (
    select
      1 as step,
      judged.away,
      case
        when judged.tie = 'every' then '2.0'
        when judged.office = 'leader' and judged.effect = 'commands' then '13.2'
        when judged.office = 'leader' and readings ->> 'css-65' = 'c' then '13.0'
        else '5.1'
      end as rule,
      judged.label as at,
      judged.effect,
      case
        when judged.effect = 'unknown' and judged.tie is null then judged.untold
        when judged.effect = 'unknown' then format('the command range of %s', judged.code)
        else
          format(
            '%s, %s: range %s%s%s',
            judged.code,
            case
              when judged.tie = 'formation' then 'of another Formation'
              when judged.tie = 'division' then 'not of its Division'
              when judged.tie = 'white' then 'a Formation HQ, to which no White-Stripe unit belongs'
              when judged.tie = 'every' then 'a Formation HQ, to all of which a No-Stripe unit belongs'
              when judged.tie = 'no_stripe' then 'a No-Stripe Leader'
              when judged.tie = 'side' then 'a Leader of its side'
              when judged.office = 'leader' then 'a Leader of its Division'
              when judged.office = 'division_hq' then 'its Division HQ'
              else 'its Formation HQ'
            end,
            judged.away,
            ', command range ' || judged.reach,
            case when judged.far then format(', %s too far', judged.away - judged.reach) end
          )
      end as note,
      judged.code as by,
      case when judged.disputed and not judged.far then 'css-65' end as point
    from judged
    where judged.tie in ('own', 'every', 'no_stripe', 'side') or not judged.far
    union all
    select
      2,
      0,
      case when asked.ambush then '24.2' else '26.0' end,
      asked.label,
      'direct command only',
      case
        when asked.ambush
          then 'an Ambush Unit acts on the Direct Command Chit alone, beside a regular Deployed unit'
        else 'Corps Artillery acts on the Direct Command Chit alone; either Marine Division pays'
      end,
      null,
      null
    from asked
    where asked.ambush or asked.corps
    union all
    select
      3,
      1,
      '24.2',
      hex.label,
      case when payer.attributes ->> 'posture' = 'deployed' then 'pays' else 'may pay' end,
      format(
        case
          when payer.attributes ->> 'posture' = 'deployed'
            then 'the Division of %s, adjacent and Deployed, may pay'
          else 'if %s, whose posture is not told, is Deployed, its Division may pay'
        end,
        payer.code
      ),
      payer.code,
      null
    from asked
    inner join public.unit as payer
      on payer.position_id = command.position_id
        and payer.side = asked.side
        and payer.kind not in ('ambush', 'leader', 'hero', 'support_weapon')
        and payer.attributes ->> 'posture' is distinct from 'column'
        and lattice.distance(asked.q, asked.r, payer.q, payer.r) = 1
    inner join public.hex on hex.map_id = payer.map_id and hex.q = payer.q and hex.r = payer.r
    where asked.ambush
    union all
    select
      4,
      0,
      '5.1',
      asked.label,
      'gives second action',
      'on its Division''s or Formation''s Chit, for 1 Direct Command',
      null,
      null
    from asked
    where not asked.ambush
      and not asked.corps
      and exists (select from judged where judged.effect = 'commands')
    union all
    select
      5,
      0,
      '5.1',
      asked.label,
      verdict.effect,
      case
        when asked.q is null then format('%s is not on the map', command.unit)
        when verdict.effect = 'in command' then 'one HQ or Leader of its own is enough'
        when verdict.effect = 'unknown' then 'what a counter does not tell would decide it'
        else 'no HQ or Leader of its own is near enough'
      end,
      null,
      null
    from asked
    cross join lateral (
      select
        positions._command_verdict(
          bool_or(judged.effect = 'commands'), bool_or(judged.effect = 'unknown')
        ) as effect
      from judged
    ) as verdict
  )
  select
    told.rule,
    null::text,
    told.at,
    told.effect,
    told.note,
    told.point,
    told.by
  from told
  order by told.step, told.away, told.by;
end
$$;

comment on function css.command(bigint, text, jsonb, jsonb) is
'Whether a unit is In-Command, and of whom: a row for every rule that speaks, the verdict last.';
