-- needs: lattice/cells.sql, positions/command.sql
-- Command in bob (Band of Brothers): 63.1, 63.2, 64.1.
--
-- Only the units of a company can be Out of Command; its Company Hub is the marker
-- `company_hub`, whose value is the scenario's Command Range. A Hub is named by its company.

create or replace function bob._hubs(position_id bigint, unit text)
returns table (
  company text,
  label text,
  away integer,
  displaced boolean,
  reach integer,
  -- what stands in the way of telling
  untold text
)
language sql stable rows 1
as $$
  select
    hub.attributes ->> 'company',
    hex.label,
    lattice.distance(asked.q, asked.r, hub.q, hub.r),
    state.displaced,
    hub.value - case when state.displaced then 2 else 0 end,
    case
      when exists (
        select
        from public.unit as enemy
        where enemy.position_id = asked.position_id
          and enemy.side <> asked.side
          and enemy.attributes ->> 'company' = hub.attributes ->> 'company'
      ) then format('whose Hub %s is: both sides have such a company', hub.attributes ->> 'company')
      when exists (
        select
        from public.unit as enemy
        where enemy.position_id = asked.position_id
          and enemy.side <> asked.side
          and enemy.q = hub.q
          and enemy.r = hub.r
      ) then format('where Hub %s goes: an enemy is in its hex', hub.attributes ->> 'company')
    end
  from public.unit as asked
  inner join public.marker as hub
    on hub.position_id = asked.position_id
      and hub.kind = 'company_hub'
      and hub.attributes ->> 'company' = asked.attributes ->> 'company'
  inner join public.hex on hex.map_id = hub.map_id and hex.q = hub.q and hex.r = hub.r
  cross join lateral (select coalesce((hub.attributes ->> 'displaced')::boolean, false) as displaced) as state
  where asked.position_id = _hubs.position_id
    and asked.code = _hubs.unit
    and asked.q is not null
    -- 64.1: guns and vehicles belong to no company
    and asked.kind not in ('gun', 'vehicle', 'carrier')
$$;

comment on function bob._hubs(bigint, text) is
'The Hub of a unit''s company: how far it is, and how far it commands.';

-- The plan takes longer to make than to run: it is made once a session.
create or replace function bob.command(
  position_id bigint,
  unit text,
  conditions jsonb default null,
  policy jsonb default null
)
returns table (rule text, clause text, at text, effect text, note text, point text, by text)
language plpgsql stable rows 8
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  return query
  with asked as materialized (
    select
      counter.q,
      counter.label,
      counter.kind in ('gun', 'vehicle', 'carrier') as heavy,
      counter.attributes ->> 'company' as company,
      counter.kind = 'squad' and 'japan' in (counter.side, counter.attributes ->> 'nation') as seishin
    from positions._counter(command.position_id, command.unit) as counter
  ),
  judged as materialized (
    select
      hub.*,
      case
        when hub.untold is not null then 'unknown'
        when hub.away <= hub.reach then 'commands'
        else 'does not command'
      end as effect
    from bob._hubs(command.position_id, command.unit) as hub
  ),
  verdict as (
    select
      case
        when asked.q is null then 'out of command'
        when asked.heavy or asked.company is null then 'in command'
        when exists (select from judged where judged.effect = 'commands') then 'in command'
        when not exists (select from judged where judged.effect <> 'unknown') then 'unknown'
        when exists (select from judged where judged.effect = 'unknown') then 'unknown'
        else 'out of command'
      end as effect
    from asked
  ),
  told as (
    select
      1 as step,
      hub.away,
      '63.2' as rule,
      hub.label as at,
      '-2' as effect,
      format('Hub %s is displaced', hub.company) as note,
      hub.company as by
    from judged as hub
    where hub.displaced
    union all
    select
      2,
      hub.away,
      case when hub.effect = 'unknown' then '63.2' else '63.1' end,
      hub.label,
      hub.effect,
      coalesce(
        hub.untold,
        format(
          'Hub %s: range %s, Command Range %s%s',
          hub.company,
          hub.away,
          hub.reach,
          case when hub.away > hub.reach then format(', %s too far', hub.away - hub.reach) end
        )
      ),
      hub.company
    from judged as hub
    union all
    select
      3,
      0,
      case when asked.heavy then '64.1' else '63.1' end,
      asked.label,
      case when asked.heavy or asked.company is null then 'passes' else 'unknown' end,
      case
        when asked.heavy then 'guns and vehicles belong to no company'
        when asked.company is null then format('%s belongs to no company', command.unit)
        else format('the Hub of company %s', asked.company)
      end,
      null
    from asked
    where asked.q is not null
      and not exists (select from judged)
    union all
    select
      4,
      0,
      '63.1',
      asked.label,
      case when verdict.effect = 'in command' then effect.kept else effect.lost end,
      effect.note,
      null
    from asked
    cross join verdict
    cross join (
      values
      (1, null, '-3', 'Morale, to no less than 1, for the first check when it is selected to move'),
      (2, 'gives command points', 'no command points', 'Command Points of its company'),
      (3, 'gives spotting', 'no spotting', 'for Artillery'),
      (4, 'gives seishin', 'no seishin', 'of a Japanese Squad')
    ) as effect (n, kept, lost, note)
    where (effect.n < 4 or asked.seishin)
      and asked.q is not null
      and (
        (verdict.effect = 'in command' and effect.kept is not null and exists (select from judged))
        or verdict.effect = 'out of command'
      )
    union all
    select
      5,
      0,
      '63.1',
      asked.label,
      verdict.effect,
      case
        when asked.q is null then format('%s is not on the map', command.unit)
        when verdict.effect = 'unknown' then 'what is not told would decide it'
        when verdict.effect = 'out of command' then 'beyond the Command Range of its Company Hub'
        when exists (select from judged) then 'within the Command Range of its Company Hub'
        else 'only units of a company can be Out of Command'
      end,
      null
    from asked
    cross join verdict
  )
  select
    told.rule,
    null::text,
    told.at,
    told.effect,
    told.note,
    null::text,
    told.by
  from told
  order by told.step, told.away, told.effect, told.by, told.at;
end
$$;

comment on function bob.command(bigint, text, jsonb, jsonb) is
'Whether a unit is in range of its Company Hub: a row for every rule that speaks, the verdict last.';
