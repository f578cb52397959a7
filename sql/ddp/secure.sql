-- needs: positions/place.sql, ddp/communication.sql, ddp/spots.sql, rulings/step.sql
-- Secured position hexes in ddp (D-Day at Peleliu): 15.2.

create or replace function ddp._us_held(state positions.state)
returns table (q integer, r integer, label text)
language sql stable parallel safe rows 40
as $$
  select distinct
    unit.q,
    unit.r,
    unit.label
  from ddp._us_units(state) as unit
  -- a hex that is fought over is nobody's
  where not exists (
    select from ddp._occupants(state) as held where held.q = unit.q and held.r = unit.r
  )
$$;

comment on function ddp._us_held(positions.state) is
'The hexes that a US unit or garrison occupies alone (15.2).';

create or replace function ddp._secure_steps(state positions.state, spot ddp.spot)
returns setof rulings.ledger_step
language plpgsql stable rows 5
as $$
#variable_conflict use_column
declare
  held boolean := exists (select from ddp._us_held(state) as own where own.q = spot.q and own.r = spot.r);
  talks boolean := ddp._us_communication(state, spot.q, spot.r);
  sources jsonb;
  closed boolean;
begin
  select
    coalesce(
      jsonb_object_agg(
        other.label, exists (select from ddp._us_held(state) as own where own.q = other.q and own.r = other.r)
      ),
      '{}'
    )
  into sources
  from ddp._spots(state.map_id) as other
  inner join public.map_feature_hex as dot on dot.feature = other.feature and dot.role = 'intense'
  where dot.q = spot.q
    and dot.r = spot.r
    and not (other.q = spot.q and other.r = spot.r)
    and not other.provisional;
  closed := not exists (select from jsonb_each_text(sources) as source where source.value = 'false');
  return query
  select
    '15.2',
    null::text,
    spot.label,
    case when held then 'held' else 'not held' end,
    case when held then 'a US unit or garrison is there' else 'no US unit or garrison holds it' end,
    null::text,
    null::text,
    null::integer,
    null::jsonb;
  return query
  select
    '15.2',
    null::text,
    source.key,
    case when source.value = 'true' then 'held' else 'not held' end,
    format(
      'it projects intense fire into %s and %s',
      spot.label,
      case when source.value = 'true' then 'is in US hands' else 'is not in US hands' end
    ),
    null::text,
    null::text,
    null::integer,
    null::jsonb
  from jsonb_each_text(sources) as source
  order by source.key;
  return query
  select
    '11.3',
    null::text,
    spot.label,
    case when talks then 'in communication' else 'out of communication' end,
    case when talks then 'US communication can be traced from it' else 'no US communication can be traced from it' end,
    null::text,
    null::text,
    null::integer,
    null::jsonb;
  return query
  select
    '15.2',
    null::text,
    spot.label,
    case when held and closed and talks then 'secure' else 'not secure' end,
    case when held and closed and talks then 'all three conditions hold' else 'not all three conditions hold' end,
    null::text,
    null::text,
    null::integer,
    jsonb_build_object(
      'secure', held and closed and talks, 'occupied', held, 'intense_from', sources, 'us_communication', talks
    );
end
$$;

comment on function ddp._secure_steps(positions.state, ddp.spot) is
'Whether a position hex is secure: held, with all that fires intensely into it, and in US communication (15.2).';

create or replace function ddp.secure(
  position_id bigint, hex text, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 5
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  state positions.state;
  asked ddp.spot;
  own text := ddp._asked_place(secure.position_id, secure.hex);
begin
  select * into state from positions.state(secure.position_id, secure.conditions, secure.policy);
  select spot.* into asked
  from ddp._spots(state.map_id) as spot
  left join positions.place(secure.position_id, secure.hex) as here on spot.q = here.q and spot.r = here.r
  where spot.place = own
  order by here.q is not null desc, spot.id = positions.spoken(secure.hex) desc, spot.label
  limit 1;
  return query select * from ddp._secure_steps(state, asked);
end
$$;

comment on function ddp.secure(bigint, text, jsonb, jsonb) is
'Whether a position hex is secure, and which of the conditions of 15.2 hold: the verdict last.';
