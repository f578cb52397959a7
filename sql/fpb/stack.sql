-- needs: fpb/zoc.sql
-- Who may stand together in fpb (Forgotten Pacific Battles): 5.2 d, 5.3, 10.6, 11.2, 12.0.

drop type if exists fpb.company cascade;
create type fpb.company as (
  label text,
  units integer,
  sides integer,
  us boolean,
  zoneless integer,
  afloat boolean,
  landing boolean
);

comment on type fpb.company is
'Who is in a hex: how many, of how many sides, how many without a zone of control, and what keeps 10.6 from them.';
comment on column fpb.company.afloat is 'Whether it is an all-sea hex, where units wait to assault (12.0)';
comment on column fpb.company.landing is 'Whether one of them lands on its landing beach in this player turn (11.2)';

create or replace function fpb._all_sea(terrain text, features text[])
returns boolean
language sql immutable parallel safe
return _all_sea.terrain = 'sea' and not _all_sea.features && array['coast', 'reef'];

comment on function fpb._all_sea(text, text[]) is
'Whether a hex is nothing but sea, which is prohibited terrain (8.3).';

create or replace function fpb._company(state positions.state, q integer, r integer)
returns fpb.company
language plpgsql stable
as $$
#variable_conflict use_column
declare
  company fpb.company;
begin
  select
    hex.label,
    count(unit.code),
    count(distinct unit.side),
    coalesce(bool_and(unit.side = 'us'), false),
    count(unit.code) filter (where not coalesce((unit.attributes ->> 'zoc')::boolean, true)),
    fpb._all_sea(hex.terrain, hex.features),
    coalesce(bool_or(unit.attributes ? 'landed'), false) and exists (
      select
      from public.marker
      where marker.position_id = state.position_id
        and marker.kind = 'landing_beach'
        and marker.q = hex.q
        and marker.r = hex.r
    )
  into company
  from public.hex
  left join public.unit
    on unit.position_id = state.position_id and unit.q = hex.q and unit.r = hex.r
  where hex.map_id = state.map_id and hex.q = _company.q and hex.r = _company.r
  group by hex.map_id, hex.q, hex.r;
  return company;
end
$$;

comment on function fpb._company(positions.state, integer, integer) is
'Who is in a hex, as far as stacking asks (5.3, 10.6).';

create or replace function fpb._stack_limit(company fpb.company, readings jsonb)
returns integer
language sql immutable parallel safe
return case
  -- 5.3
  when not company.us then 1
  -- 10.6: never in amphibious operations
  when company.afloat or (company.landing and readings ->> 'fpb-5' = 'a') then 1
  -- 10.6: two, if one of them exerts no zone; one alone may be joined by such
  when company.units > 1 and company.zoneless = 0 then 1
  else 2
end;

comment on function fpb._stack_limit(fpb.company, jsonb) is
'How many units may be in a hex together, those who are there being who they are (5.3, 10.6, fpb-5).';

create or replace function fpb._stack_steps(company fpb.company, readings jsonb)
returns setof rulings.ledger_step
language sql immutable rows 4
as $$
  select
    entry.rule,
    entry.clause,
    company.label,
    entry.effect,
    entry.note,
    entry.point,
    null,
    null::integer,
    null::jsonb
  from (
    values
    (1, true, '5.3', null, 'limit 1', 'units do not stack', null),
    (2, company.sides > 1, '5.2', 'd', 'forbids', 'both sides are here', null),
    (
      3,
      company.us and not company.afloat and not (company.landing and readings ->> 'fpb-5' = 'a')
      and (company.units < 2 or company.zoneless > 0),
      '10.6', null, 'limit 2', 'two US units, of which one exerts no zone', null
    ),
    (
      4,
      company.us and company.units > 1 and company.zoneless = 0,
      '10.6', null, 'limit 1', 'every US unit here exerts a zone', null
    ),
    (5, company.us and company.afloat, '12.0', null, 'limit 1', 'units at sea do not stack', null),
    (
      6,
      company.us and company.landing and company.units > 1 and not company.afloat,
      '11.2',
      null,
      case readings ->> 'fpb-5' when 'a' then 'limit 1' else 'passes' end,
      'one of them lands on this beach',
      'fpb-5'
    )
  ) as entry (n, speaks, rule, clause, effect, note, point)
  where entry.speaks
  order by entry.n
$$;

comment on function fpb._stack_steps(fpb.company, jsonb) is
'Every rule that says how many may be in a hex.';

create or replace function fpb.stack(
  position_id bigint, hex text, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 4
as $$
#variable_conflict use_variable
declare
  state positions.state;
  place record;
  company fpb.company;
  most integer;
  over integer;
begin
  select * into state from positions.state(position_id, conditions, policy);
  select * into place from positions.place(position_id, hex);
  company := fpb._company(state, place.q, place.r);
  if company.label is null then
    raise exception 'no hex or unit % on the map of this position', hex using errcode = 'no_data_found';
  end if;
  most := fpb._stack_limit(company, state.readings);
  over := greatest(company.units - most, 0);
  return query select * from fpb._stack_steps(company, state.readings);
  return next row(
    case when most = 2 then '10.6' else '5.3' end,
    null,
    company.label,
    case when over > 0 or company.sides > 1 then 'illegal' else 'legal' end,
    format('%s here, %s may be', company.units, most),
    null,
    null,
    null,
    jsonb_build_object('units', company.units, 'limit', most, 'over', over)
  )::rulings.ledger_step;
end
$$;

comment on function fpb.stack(bigint, text, jsonb, jsonb) is
'Whether those who are in a hex may stand together, and how many are over the limit; the verdict last.';
