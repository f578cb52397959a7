-- needs: ddp/japanese_communication.sql, ddp/spots.sql, rulings/step.sql
-- Whose fire dots count, and for what, in ddp (D-Day at Peleliu): 6.2, 6.23, 6.4, 11.31, 12.9, 13.1, 13.43, 14.1, 14.2, 14.32, 14.4.
--
-- Purposes: fire, move, silence (of a command post) ask for an undisrupted occupant; us_communication,
-- garrison, growth (of a command range) and barrage for any; command_post (setting one up) for any, or for
-- an empty position in communication; ambush for an empty one. What is contested is told by its point.

drop type if exists ddp.field cascade;
create type ddp.field as (
  place text,
  feature bigint,
  label text,
  q integer,
  r integer,
  color text,
  cave boolean,
  provisional boolean,
  occupied boolean,
  active boolean,
  fringe boolean,
  rule text,
  note text,
  points text array
);

comment on type ddp.field is
'A position, or a cave, and whether its field of fire counts for some purpose.';
comment on column ddp.field.fringe is 'Whether a tank adds the hexes beside the printed field (6.23)';
comment on column ddp.field.points is 'Contested points on which that turns';

create or replace function ddp._wants_undisrupted(purpose text, readings jsonb)
returns boolean
language sql immutable parallel safe
return purpose in ('fire', 'move', 'silence')
or (purpose in ('growth', 'barrage') and coalesce(readings ->> 'ddp-3' = 'b', false));

comment on function ddp._wants_undisrupted(text, jsonb) is
'Whether a disrupted unit has no field of fire for this purpose (6.4, 11.31, ddp-3).';

create or replace function ddp._stance_counts(purpose text, readings jsonb)
returns boolean
language sql immutable parallel safe
-- 13.42: who counterattacks does not fire
return purpose <> 'fire' and coalesce(readings ->> 'ddp-48' <> 'b', true);

comment on function ddp._stance_counts(text, jsonb) is
'Whether a unit in counterattack stance has a field of fire for this purpose (13.42, ddp-48).';

create or replace function ddp._fringe_counts(purpose text, disrupted boolean, readings jsonb)
returns boolean
language sql immutable parallel safe
return case
  when purpose in ('fire', 'move', 'silence') then not disrupted
  else
    case readings ->> 'ddp-49'
      when 'b' then false
      when 'c' then true
      else not disrupted
    end
end;

comment on function ddp._fringe_counts(text, boolean, jsonb) is
'Whether a tank, disrupted or not, widens its field for this purpose (6.23, 13.1, ddp-49).';

create or replace function ddp._fields(state positions.state, purpose text)
returns setof ddp.field
language sql stable parallel safe rows 40
as $$
  with held as materialized (
    select
      coalesce(one.place, one.label) as place,
      bool_or(not one.disrupted) as awake,
      bool_or(one.disrupted) as asleep,
      bool_or(one.stance and (not one.disrupted or not ddp._wants_undisrupted(purpose, state.readings))) as stance,
      bool_or(
        (not one.disrupted or not ddp._wants_undisrupted(purpose, state.readings))
        and (not one.stance or ddp._stance_counts(purpose, state.readings))
      ) as counts,
      bool_or(
        (not one.disrupted or not ddp._wants_undisrupted(purpose, state.readings)) and not one.stance
      ) as plain,
      bool_or(one.tank) as tank,
      bool_or(
        one.tank
        and ddp._fringe_counts(purpose, one.disrupted, state.readings)
        and (not one.stance or ddp._stance_counts(purpose, state.readings))
      ) as fringe
    from ddp._occupants(state) as one
    where one.place is not null or one.cave
    group by coalesce(one.place, one.label)
  ),

  -- a group by its first hex
  place as (
    select distinct on (spot.place)
      spot.place,
      spot.feature,
      spot.label,
      spot.q,
      spot.r,
      spot.color,
      false as cave,
      spot.provisional
    from ddp._spots(state.map_id) as spot
    order by spot.place, spot.label
  ),

  potential as (
    select found.place
    from ddp._japanese_communication(state) as found
    where purpose = 'command_post' and found.in_communication and not found.occupied
    group by found.place
  )

  select
    place.place,
    place.feature,
    place.label,
    place.q,
    place.r,
    place.color,
    place.cave,
    place.provisional,
    held.place is not null,
    judged.active,
    judged.active and coalesce(held.fringe, false),
    case
      when place.provisional then '13.43'
      when purpose = 'ambush' then '12.9'
      when held.place is null then case when potential.place is not null then '14.1' else '6.2' end
      when not held.counts and not held.plain and held.stance then '13.42'
      when not judged.active then '6.4'
      when purpose in ('us_communication') then '11.31'
      when purpose = 'garrison' then '14.4'
      when purpose = 'command_post' then '14.1'
      when purpose = 'growth' then '14.2'
      when purpose = 'silence' then '14.32'
      when purpose = 'barrage' then '8.4'
      else '6.2'
    end,
    case
      when place.provisional then 'a provisional position projects no field of fire'
      when purpose = 'ambush' and held.place is not null then 'it is occupied'
      when purpose = 'ambush' then 'it is empty: an ambush looks at its printed dots'
      when held.place is null and potential.place is not null then 'it is empty, and in Japanese communication'
      when held.place is null then 'nobody is there'
      when judged.active and held.asleep and not held.awake then 'whoever is there is disrupted, and its dots count all the same'
      when judged.active then 'it is occupied'
      when held.stance and not held.plain then 'who is in counterattack stance has no field of fire here'
      else 'whoever is there is disrupted'
    end,
    array_remove(
      array[
        case when purpose = 'ambush' and held.place is null and not place.provisional then 'ddp-37' end,
        case when purpose in ('growth', 'barrage') and held.asleep and not held.awake then 'ddp-3' end,
        case when held.stance and not held.plain and purpose <> 'fire' and not place.provisional then 'ddp-48' end,
        case
          when held.tank and judged.active and purpose not in ('fire', 'move', 'silence', 'ambush') then 'ddp-49'
        end
      ],
      null
    )
  from (
    select * from place
    union all
    -- the six hexes around a cave
    select
      one.label,
      null,
      one.label,
      one.q,
      one.r,
      coalesce(one.attributes -> 'counterattack' ->> 'color', one.attributes ->> 'color'),
      true,
      false
    from ddp._occupants(state) as one
    where one.cave and one.place is null
  ) as place
  left join held on held.place = place.place
  left join potential on potential.place = place.place
  cross join lateral (
    select
      not place.provisional
      and case
        when purpose = 'ambush' then held.place is null and coalesce(state.readings ->> 'ddp-37' <> 'b', true)
        else coalesce(held.counts, potential.place is not null)
      end as active
  ) as judged
$$;

comment on function ddp._fields(positions.state, text) is
'Every position and cave, and whether its field of fire counts for a purpose (6.2, 6.4, 11.31, 12.9, 13.43, 14.1).';

drop type if exists ddp.dot cascade;
create type ddp.dot as (
  place text,
  q integer,
  r integer,
  label text,
  grade text
);

comment on type ddp.dot is
'A fire dot of a position in a hex: intense, steady, or extended by a tank (6.23).';

create or replace function ddp._dots_of(state positions.state, field ddp.field, purpose text)
returns setof ddp.dot
language sql stable parallel safe rows 20
as $$
  with printed as materialized (
    select dot.q, dot.r, min(dot.role) as grade
    from public.map_feature_hex as dot
    where dot.feature = field.feature and dot.role in ('intense', 'steady')
    group by dot.q, dot.r
    union all
    select beside.nq, beside.nr, 'steady'
    from lattice.neighbours(field.q, field.r) as beside
    where field.cave
  ),

  widened as (
    select printed.q, printed.r, printed.grade
    from printed
    union all
    select distinct beside.nq, beside.nr, 'extended'
    from printed
    cross join lateral lattice.neighbours(printed.q, printed.r) as beside
    where field.fringe
      and not exists (select from printed as other where other.q = beside.nq and other.r = beside.nr)
      -- no fire into its own hexes
      and not exists (
        select
        from public.map_feature_hex as own
        where own.feature = field.feature and own.role = 'at' and own.q = beside.nq and own.r = beside.nr
      )
  )

  select
    field.place,
    hex.q,
    hex.r,
    hex.label,
    widened.grade
  from widened
  cross join lateral (
    select
      ground.q,
      ground.r,
      ground.label
    from public.hex as ground
    where ground.map_id = state.map_id and ground.q = widened.q and ground.r = widened.r
    offset 0
  ) as hex
  where field.active
    -- smoke takes the dots in landing beach hexes away from fire alone
    and not (
      purpose = 'fire'
      and exists (
        select
        from public.marker
        inner join public.map_feature_hex as own on own.feature = field.feature and own.role = 'at'
        where marker.position_id = state.position_id and marker.kind = 'smoke' and marker.q = own.q and marker.r = own.r
      )
      and exists (select from ddp._landing_beaches(state.map_id) as beach where beach.q = hex.q and beach.r = hex.r)
    )
$$;

comment on function ddp._dots_of(positions.state, ddp.field, text) is
'The fire dots that count of a field: printed ones, a tank''s fringe, the six around a cave, less what smoke hides (6.2, 6.23).';

create or replace function ddp._field_dots(state positions.state, purpose text)
returns setof ddp.dot
language sql stable parallel safe rows 300
as $$
  select dot.*
  from ddp._fields(state, purpose) as field
  cross join lateral ddp._dots_of(state, field, purpose) as dot
  where field.active
$$;

comment on function ddp._field_dots(positions.state, text) is
'Every fire dot on the map that counts for a purpose.';

create or replace function ddp.field_of_fire(
  position_id bigint, place text, purpose text default 'fire', conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 4
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  state positions.state;
  field ddp.field;
  asked text := ddp._place_named(field_of_fire.position_id, field_of_fire.place);
  points text[];
begin
  select * into state from positions.state(field_of_fire.position_id, field_of_fire.conditions, field_of_fire.policy);
  if asked is null then
    -- a cave by its hex, or by the unit in it
    select hex.label into asked
    from positions.place(field_of_fire.position_id, field_of_fire.place) as spot
    inner join public.hex on hex.map_id = state.map_id and hex.q = spot.q and hex.r = spot.r;
  end if;
  select * into field from ddp._fields(state, field_of_fire.purpose) as one where one.place = asked;
  if not found then
    perform ddp._asked_place(field_of_fire.position_id, field_of_fire.place);
  end if;
  points := field.points;
  if (select count(*) from ddp._spots(state.map_id) as spot where spot.place = asked) > 2 then
    -- pairs, or two or more hexes
    points := points || array['ddp-52'];
  end if;
  return query
  select
    field.rule,
    null::text,
    field.label,
    case when field.active then 'active' else 'inactive' end,
    format('%s: %s', field.place, field.note),
    point.point,
    null::text,
    null::integer,
    null::jsonb
  from (
    select unnest(points) as point
    union all
    select null where cardinality(points) = 0
  ) as point
  order by point.point;
  return query
  select
    '6.23',
    null::text,
    field.label,
    'extends',
    format('%s: a tank adds the hexes beside the printed field', field.place),
    null::text,
    null::text,
    null::integer,
    null::jsonb
  where field.fringe;
  return query
  select
    '6.2',
    null::text,
    field.label,
    case when field.active then 'field of fire' else 'no field of fire' end,
    format('%s, for %s', field.place, replace(field_of_fire.purpose, '_', ' ')),
    null::text,
    null::text,
    null::integer,
    jsonb_build_object(
      'active', field.active,
      'intense', coalesce(jsonb_agg(dot.label order by dot.label) filter (where dot.grade = 'intense'), '[]'),
      'steady', coalesce(jsonb_agg(dot.label order by dot.label) filter (where dot.grade = 'steady'), '[]'),
      'extended', coalesce(jsonb_agg(dot.label order by dot.label) filter (where dot.grade = 'extended'), '[]')
    )
  from ddp._dots_of(state, field, field_of_fire.purpose) as dot;
end
$$;

comment on function ddp.field_of_fire(bigint, text, text, jsonb, jsonb) is
'The field of fire of a position for a purpose: whether it counts, its intense and steady hexes, and what a tank adds. The verdict last.';

create or replace function ddp.dots(
  position_id bigint, hex text, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 6
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  state positions.state;
  spot record;
begin
  select * into state from positions.state(dots.position_id, dots.conditions, dots.policy);
  select * into spot from positions.place(dots.position_id, dots.hex);
  return query
  with printed as (
    select
      place.code as place,
      min(dot.role) as grade
    from public.map_feature as place
    inner join public.map_feature_hex as dot on dot.feature = place.id and dot.role in ('intense', 'steady')
    where place.map_id = state.map_id and place.kind = 'position' and dot.q = spot.q and dot.r = spot.r
    group by place.code
  ),

  counting as (
    select dot.place, dot.grade
    from ddp._field_dots(state, 'fire') as dot
    where dot.q = spot.q and dot.r = spot.r
  ),

  told as (
    select printed.place, printed.grade from printed
    union all
    select counting.place, counting.grade from counting
    where not exists (select from printed where printed.place = counting.place)
  ),

  step as (
    select
      case when told.grade = 'extended' then '6.23' else '6.2' end as rule,
      told.place,
      told.grade,
      exists (select from counting where counting.place = told.place) as fires
    from told
  )

  select
    step.rule,
    null::text,
    positions.spoken(dots.hex),
    step.grade,
    format('%s%s', step.place, case when step.fires then '' else ', from which nobody fires into it now' end),
    null::text,
    null::text,
    null::integer,
    null::jsonb
  from step
  union all
  select
    '6.2',
    null::text,
    positions.spoken(dots.hex),
    'dots',
    format('%s positions project dots into it', count(*)),
    null::text,
    null::text,
    null::integer,
    jsonb_build_object(
      'intense', coalesce(jsonb_agg(step.place order by step.place) filter (where step.grade = 'intense'), '[]'),
      'steady', coalesce(jsonb_agg(step.place order by step.place) filter (where step.grade = 'steady'), '[]'),
      'extended', coalesce(jsonb_agg(step.place order by step.place) filter (where step.grade = 'extended'), '[]'),
      'active', coalesce(jsonb_agg(step.place order by step.place) filter (where step.fires), '[]')
    )
  from step;
end
$$;

comment on function ddp.dots(bigint, text, jsonb, jsonb) is
'The positions whose fire dots lie in a hex, by kind of dot, and those that can fire into it now. The verdict last.';
