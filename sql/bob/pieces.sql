-- needs: positions/state.sql
-- The counters of bob (Band of Brothers) as its rules speak of them: 2.0, 12.0, 20.10, 21.1.
--
-- Whoever asks about several units reads them once, as an array of `bob.piece`.

drop type if exists bob.piece cascade;
create type bob.piece as (
  id bigint,
  code text,
  side text,
  nation text,
  kind text,
  q integer,
  r integer,
  label text,
  location text,
  infantry boolean,
  gun boolean,
  vehicle boolean,
  decoy boolean,
  mounted boolean,
  melee boolean,
  concealed integer,
  attributes jsonb
);

comment on type bob.piece is
'A unit on the map: what kind of thing it is, in which location of its hex, and whether it is in Melee.';
comment on column bob.piece.location is 'ground, upper, cave or under (a bridge): the locations of a hex (2.0)';
comment on column bob.piece.melee is 'Whether an enemy Squad, WT or Gun is in its location (12.0)';
comment on column bob.piece.mounted is 'Whether it rides in a Carrier or on a tank (21.1, 22.0)';

create or replace function bob._location(attributes jsonb)
returns text
language sql immutable parallel safe
return case
  when (attributes ->> 'in_cave')::boolean then 'cave'
  when (attributes ->> 'upper_level')::boolean then 'upper'
  when (attributes ->> 'under_bridge')::boolean then 'under'
  else 'ground'
end;

comment on function bob._location(jsonb) is
'The location of its hex that a unit is in (2.0, 40.2, 43.4, 45.4).';

create or replace function bob._pieces(position_id bigint)
returns setof bob.piece
language plpgsql stable rows 20
as $$
#variable_conflict use_column
begin
  return query
  with counter as materialized (
    select
      unit.id,
      unit.code,
      unit.side,
      coalesce(unit.attributes ->> 'nation', unit.side) as nation,
      coalesce(unit.kind, 'squad') as kind,
      unit.q,
      unit.r,
      hex.label,
      bob._location(unit.attributes) as location,
      coalesce(unit.kind, 'squad') in ('squad', 'wt') as infantry,
      unit.kind = 'gun' as gun,
      unit.kind in ('vehicle', 'carrier') as vehicle,
      unit.kind = 'decoy' as decoy,
      unit.attributes ? 'in' as mounted,
      unit.attributes
    from public.unit
    inner join public.hex on hex.map_id = unit.map_id and hex.q = unit.q and hex.r = unit.r
    where unit.position_id = _pieces.position_id
      and unit.q is not null
  )
  select
    one.id,
    one.code,
    one.side,
    one.nation,
    one.kind,
    one.q,
    one.r,
    one.label,
    one.location,
    one.infantry,
    coalesce(one.gun, false),
    coalesce(one.vehicle, false),
    coalesce(one.decoy, false),
    one.mounted,
    -- 12.0: an Infantry unit with an enemy Infantry unit or Gun
    not one.mounted and exists (
      select
      from counter as other
      where other.q = one.q
        and other.r = one.r
        and other.location = one.location
        and other.side <> one.side
        and not other.mounted
        and ((one.infantry and (other.infantry or other.gun)) or (one.gun and other.infantry))
    ),
    coalesce((one.attributes ->> 'concealed')::integer, 0),
    one.attributes
  from counter as one
  order by one.id;
end
$$;

comment on function bob._pieces(bigint) is
'Every unit on the map of a position, in the order in which they were set up.';

create or replace function bob._flag(piece bob.piece, name text)
returns boolean
language sql immutable parallel safe
return coalesce((piece.attributes ->> name)::boolean, false);

comment on function bob._flag(bob.piece, text) is
'Whether a counter says so.';

create or replace function bob._menaces(piece bob.piece)
returns boolean
language sql immutable parallel safe
return not piece.mounted and coalesce((piece.attributes ->> 'uk')::integer, 0) = 0;

comment on function bob._menaces(bob.piece) is
'Whether the enemy must fear it in the Rout Phase: not a passenger, nor a Vehicle under an Unconfirmed Kill (11.0, 61.2).';
